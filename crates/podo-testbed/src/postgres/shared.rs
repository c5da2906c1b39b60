//! One server for all tests of a run: nextest runs each test in its own process, and starting a
//! server takes longer than most tests.

use crate::NotStarted;
use crate::engine::Owner;
use crate::postgres::{Durability, Home, Postgres, Programs, home, missing};
use rustix::process::Pid;
use std::fs::File;
use std::io::{Error, Read, Result, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use tempfile::TempDir;

/// Databases of finished tests are dropped together: each drop makes the server run a checkpoint.
const LEFT_BEHIND_MAX: usize = 40;

const ALL_DATABASES: &str = "select datname from pg_database";

/// Databases that this process created.
static N_DATABASES: AtomicU32 = AtomicU32::new(0);

/// A run of nextest.
struct Run {
    id: String,
    process: Pid,
}

impl Run {
    /// The run that this test is part of; its process is our parent.
    #[expect(clippy::disallowed_methods, reason = "what nextest tells its tests is no setting")]
    fn current() -> Option<Run> {
        let id = std::env::var("NEXTEST_RUN_ID").ok()?;
        Some(Run { id, process: rustix::process::getppid()? })
    }

    /// The file with the server's port. The process that has it locked may start one.
    fn note(&self) -> PathBuf {
        std::env::temp_dir().join(format!("podo-postgres-{}", self.id))
    }
}

impl Postgres {
    /// The server that all tests of this nextest run share; it ends with the run. Without nextest
    /// it is a dedicated server.
    pub fn shared() -> std::result::Result<Postgres, NotStarted> {
        match Run::current() {
            Some(run) => join(&run).map_err(|error| missing(&error)),
            None => Postgres::start(),
        }
    }

    /// Creates a database from the template. If there is no template yet, `fill` turns an empty
    /// database into it, given its URL; other processes wait. The database is dropped after this
    /// process has ended.
    pub fn create_database_like(
        &self,
        template: &str,
        name: &str,
        fill: impl FnOnce(&str),
    ) -> Result<String> {
        let number = N_DATABASES.fetch_add(1, Ordering::Relaxed);
        let name = format!("{name}{number}_p{}", std::process::id());
        // One program for both: starting it takes as long as the copy.
        let copy = crate::postgres::copy_of(template, &name);
        let copy_and_look = || self.psql_each("postgres", &[&copy, ALL_DATABASES]);
        let known = copy_and_look().or_else(|error| {
            if !error.to_string().contains("does not exist") {
                return Err(error);
            }
            self.make_template(template, fill)?;
            copy_and_look()
        })?;
        self.drop_left_behind(&known);
        Ok(name)
    }

    fn make_template(&self, template: &str, fill: impl FnOnce(&str)) -> Result<()> {
        let lock = File::create(self.folder.path().join(format!("{template}.lock")))?;
        lock.lock()?;
        if self.psql("postgres", ALL_DATABASES)?.lines().any(|known| known == template) {
            return Ok(());
        }
        let half_done = format!("{template}_half_done");
        self.psql(
            "postgres",
            &format!("drop database if exists {}", crate::postgres::quoted(&half_done)),
        )?;
        self.create_database(&half_done)?;
        fill(&self.url(&half_done));
        let (from, to) = (crate::postgres::quoted(&half_done), crate::postgres::quoted(template));
        self.psql("postgres", &format!("alter database {from} rename to {to}")).map(drop)
    }

    /// Another process may drop them at the same time; the next caller tries again.
    fn drop_left_behind(&self, known: &str) {
        let is_left = |name: &&str| maker(name).is_some_and(|process| !is_alive(process));
        let left: Vec<&str> = known.lines().filter(is_left).collect();
        if left.len() < LEFT_BEHIND_MAX {
            return;
        }
        for name in left {
            let drop =
                format!("drop database if exists {} with (force)", crate::postgres::quoted(name));
            self.psql("postgres", &drop).ok();
        }
    }
}

fn join(run: &Run) -> Result<Postgres> {
    let path = run.note();
    let mut note =
        File::options().read(true).write(true).create(true).truncate(false).open(&path)?;
    note.lock()?;
    let mut text = String::new();
    note.read_to_string(&mut text)?;
    match text.split_once(' ') {
        Some((port, folder)) => {
            let port = port.parse().map_err(Error::other)?;
            Ok(known(Programs::find()?, port, Path::new(folder)))
        }
        None => {
            let postgres = start(run, &path)?;
            write!(note, "{} {}", postgres.port, postgres.folder.path().display())?;
            Ok(postgres)
        }
    }
}

fn start(run: &Run, note: &Path) -> Result<Postgres> {
    let programs = Programs::find()?;
    let folder = TempDir::with_prefix_in("podo-postgres-", home(Durability::Off))?.keep();
    programs.own(&folder)?;
    let mut postgres = known(programs, 0, &folder);
    crate::postgres::prepared::fill(&postgres.programs, &postgres.data())?;
    let owner = Owner::Run { process: run.process, note: note.to_owned() };
    postgres.serve_on_free_port(&owner).map_err(|error| Error::other(error.to_string()))?;
    // It outlives this process, and its guard ends it, so nothing drops it.
    std::mem::forget(postgres.process.take());
    Ok(postgres)
}

/// A server that another process owns.
fn known(programs: Programs, port: u16, folder: &Path) -> Postgres {
    let folder = Home::Shared(folder.to_owned());
    let durability = Durability::Off;
    Postgres { process: None, programs, durability, has_tls: false, port, folder }
}

/// The process that a database was created for.
fn maker(name: &str) -> Option<u32> {
    name.rsplit_once("_p")?.1.parse().ok()
}

fn is_alive(process: u32) -> bool {
    Path::new(&format!("/proc/{process}")).exists()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine;
    use std::process::{Command, Stdio};

    /// A process that lives until told to end, as a run does.
    fn run_of(process: &std::process::Child) -> Run {
        let id = format!("test-{}-{}", std::process::id(), process.id());
        Run { id, process: Pid::from_child(process) }
    }

    #[test]
    fn all_tests_of_a_run_share_a_server_that_ends_with_it() {
        let mut runner = Command::new("sleep").arg("600").stdout(Stdio::null()).spawn().unwrap();
        let run = run_of(&runner);
        let ports = std::thread::scope(|scope| {
            let joins = [(); 3].map(|()| scope.spawn(|| join(&run).unwrap().port()));
            joins.map(|join| join.join().unwrap())
        });
        assert!(ports.iter().all(|port| *port == ports[0]), "{ports:?}");
        let postgres = join(&run).unwrap();
        assert_eq!(postgres.psql("postgres", "select 1").unwrap(), "1");
        runner.kill().unwrap();
        runner.wait().unwrap();
        let is_gone = || Ok(!postgres.folder().exists() && !run.note().exists());
        engine::wait_until("it is gone", is_gone).unwrap();
        assert!(postgres.psql("postgres", "select 1").is_err());
    }

    #[test]
    fn a_template_is_filled_once_and_what_was_left_behind_goes() {
        let postgres = Postgres::start().unwrap();
        let like = |name: &str, fill: &dyn Fn(&str)| {
            postgres.create_database_like("full", name, fill).unwrap()
        };
        let fill = |url: &str| {
            let database = url.rsplit_once('/').unwrap().1;
            postgres.psql(database, "create table grapes (n int)").unwrap();
        };
        let first = like("first", &fill);
        let second = like("second", &|_| panic!("it is filled already"));
        for name in [&first, &second] {
            postgres.psql(name, "insert into grapes values (1)").unwrap();
        }
        // No process has this id.
        let ended = 4_000_000_000_u32;
        for number in 0..LEFT_BEHIND_MAX {
            postgres.create_database(&format!("left{number}_p{ended}")).unwrap();
        }
        like("third", &fill);
        let names = postgres.psql("postgres", ALL_DATABASES).unwrap();
        assert!(!names.lines().any(|name| maker(name) == Some(ended)), "{names}");
        for made in [&first, &second] {
            assert!(names.lines().any(|name| name == made), "{names}");
        }
    }
}
