//! The location of PostgreSQL's programs, and the account that they run as.

use crate::engine;
use crate::postgres::USER;
use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Debian has a folder per version in here, because several may be installed.
const DEBIAN: &str = "/usr/lib/postgresql";

/// The account of Debian's package. The server refuses to run as root.
const ACCOUNT: &str = "postgres";

const MISSING: &str = "PostgreSQL is not installed; install Debian's package `postgresql`, \
     or run `cargo xtask test --only packages` as root";

pub(super) struct Programs {
    folder: PathBuf,
    is_root: bool,
}

impl Programs {
    pub(super) fn find() -> Result<Programs> {
        let none = || Error::new(ErrorKind::NotFound, MISSING);
        let debian = || newest(Path::new(DEBIAN)).or_else(on_path);
        let folder = named().or_else(debian).ok_or_else(none)?;
        Ok(Programs { folder, is_root: rustix::process::geteuid().is_root() })
    }

    /// Gives the folder to the server's account.
    pub(super) fn own(&self, folder: &Path) -> Result<()> {
        if self.is_root {
            engine::run(Command::new("chown").arg(ACCOUNT).arg(folder))?;
        }
        Ok(())
    }

    /// A program that must not run as root.
    pub(super) fn server(&self, name: &str) -> Command {
        let program = self.folder.join(name);
        if !self.is_root {
            return without_settings(Command::new(program));
        }
        let mut command = without_settings(Command::new("setpriv"));
        let account = [format!("--reuid={ACCOUNT}"), format!("--regid={ACCOUNT}")];
        command.args(account).args(["--init-groups", "--"]).arg(program);
        // The current folder may not be accessible to that account.
        command.current_dir("/");
        command
    }

    /// A program that connects to the server.
    pub(super) fn client(&self, name: &str, port: u16) -> Command {
        let mut command = without_settings(Command::new(self.folder.join(name)));
        command.args(["-h", "127.0.0.1", "-p", &port.to_string(), "-U", USER]);
        command
    }
}

/// Settings of the user who runs the tests must not reach the programs.
fn without_settings(mut command: Command) -> Command {
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("PG") {
            command.env_remove(name);
        }
    }
    command
}

/// The folder with the programs of another version, for a whole run: `cargo xtask test` also runs
/// the store's suite on PostgreSQL 18.
#[expect(clippy::disallowed_methods, reason = "what the run of the tests says is no setting")]
fn named() -> Option<PathBuf> {
    std::env::var_os("PODO_TEST_POSTGRES").map(PathBuf::from)
}

/// The programs of the newest version below `folder`.
fn newest(folder: &Path) -> Option<PathBuf> {
    let versions = std::fs::read_dir(folder).ok()?.filter_map(|entry| {
        let entry = entry.ok()?;
        let version: u32 = entry.file_name().to_str()?.parse().ok()?;
        let programs = entry.path().join("bin");
        programs.join("postgres").exists().then_some((version, programs))
    });
    versions.max().map(|(_, programs)| programs)
}

/// The folder of the `postgres` that a shell would start, with links resolved: the other programs
/// are beside the real one.
fn on_path() -> Option<PathBuf> {
    let found = engine::run(Command::new("/bin/sh").args(["-c", "command -v postgres"])).ok()?;
    let program = std::fs::canonicalize(found.trim_end()).ok()?;
    program.parent().map(Path::to_owned)
}

#[test]
fn the_newest_version_with_a_server_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let add = |path: &str| {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "").unwrap();
    };
    assert_eq!(newest(folder.path()), None);
    add("9/bin/postgres");
    add("15/bin/postgres");
    add("16/bin/psql");
    assert_eq!(newest(folder.path()), Some(folder.path().join("15/bin")));
    assert_eq!(newest(&folder.path().join("none")), None);
}
