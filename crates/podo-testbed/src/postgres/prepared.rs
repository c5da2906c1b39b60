//! An empty data folder that is created once and then copied, because `initdb` takes most of a
//! start.

use crate::engine;
use crate::postgres::USER;
use crate::postgres::programs::Programs;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{Error, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Each set of options has its own prepared folder. Small WAL segments leave less to copy.
const SETTINGS: [&str; 7] = [
    "--auth=trust",
    "--encoding=UTF8",
    "--locale=C.UTF-8",
    "--no-sync",
    "--wal-segsize=1",
    "--username",
    USER,
];

/// Fills `data`, which the server's account may create, with an empty cluster.
pub(super) fn fill(programs: &Programs, data: &Path) -> Result<()> {
    let home = home()?;
    std::fs::create_dir_all(&home)?;
    fill_from(programs, &home.join(name(programs)?), data)
}

/// Copies the prepared folder, and creates it first if it is missing. A folder under its final name
/// is complete, because a rename gave it that name, and it never changes.
fn fill_from(programs: &Programs, prepared: &Path, data: &Path) -> Result<()> {
    if !prepared.exists() {
        prepare(programs, prepared, data)?;
    }
    copy(prepared, data)
}

/// The lock ends with the process, so a killed one blocks no other; the next deletes what it left
/// half done.
fn prepare(programs: &Programs, prepared: &Path, data: &Path) -> Result<()> {
    let lock = File::create(prepared.with_extension("lock"))?;
    lock.lock()?;
    if prepared.exists() {
        return Ok(());
    }
    let half_done = prepared.with_extension("half-done");
    remove(&half_done)?;
    // In the caller's folder, because the server's account may not reach ours.
    let fresh = data.with_extension("fresh");
    let mut initdb = programs.server("initdb");
    engine::run(initdb.args(SETTINGS).arg("--pgdata").arg(&fresh))?;
    copy(&fresh, &half_done)?;
    remove(&fresh)?;
    std::fs::rename(&half_done, prepared)
}

/// Keeps owners and permissions: the server refuses data that others can read.
fn copy(from: &Path, to: &Path) -> Result<()> {
    engine::run(Command::new("cp").args(["-a", "--reflink=auto"]).arg(from).arg(to)).map(drop)
}

fn remove(folder: &Path) -> Result<()> {
    if folder.exists() { std::fs::remove_dir_all(folder) } else { Ok(()) }
}

/// The folder for temporary files in cargo's target folder, where this program is: beside `debug`,
/// which holds cargo's own files.
fn home() -> Result<PathBuf> {
    let program = std::env::current_exe()?;
    let profile = program.ancestors().find(|folder| folder.join(".fingerprint").exists());
    let target = profile.and_then(Path::parent);
    Ok(target.map_or_else(std::env::temp_dir, |target| target.join("tmp")))
}

/// Another version, other options or another user of the machine has another folder.
fn name(programs: &Programs) -> Result<String> {
    let version = engine::run(programs.server("postgres").arg("--version"))?;
    let mut hasher = DefaultHasher::new();
    (version.trim(), SETTINGS, rustix::process::geteuid().as_raw()).hash(&mut hasher);
    let number = version.split_whitespace().nth(2).ok_or_else(|| Error::other(version.clone()))?;
    Ok(format!("postgres-{}-{:016x}", number.replace('.', "_"), hasher.finish()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    /// Two folders: one for the prepared data, one that the server's account can write to.
    fn folders(programs: &Programs) -> (TempDir, TempDir) {
        let (home, own) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        programs.own(own.path()).unwrap();
        (home, own)
    }

    #[test]
    fn many_who_start_at_once_prepare_one_folder_and_copy_it() {
        let programs = Programs::find().unwrap();
        let (home, own) = folders(&programs);
        let prepared = home.path().join("postgres-15");
        std::thread::scope(|scope| {
            for number in 0..4 {
                let (programs, prepared) = (&programs, &prepared);
                let data = own.path().join(format!("data{number}"));
                scope.spawn(move || fill_from(programs, prepared, &data).unwrap());
            }
        });
        let identity = |folder: &Path| std::fs::read(folder.join("global/pg_control")).unwrap();
        for number in 0..4 {
            let data = own.path().join(format!("data{number}"));
            assert_eq!(identity(&data), identity(&prepared));
        }
    }

    #[test]
    fn what_a_killed_process_left_is_not_used() {
        let programs = Programs::find().unwrap();
        let (home, own) = folders(&programs);
        let prepared = home.path().join("postgres-15");
        std::fs::create_dir(home.path().join("postgres-15.half-done")).unwrap();
        File::create(home.path().join("postgres-15.lock")).unwrap();
        fill_from(&programs, &prepared, &own.path().join("data")).unwrap();
        assert!(own.path().join("data/global/pg_control").exists());
        assert!(!home.path().join("postgres-15.half-done").exists());
    }
}
