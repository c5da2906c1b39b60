//! A real PostgreSQL server: start, query, crash, replicate and promote.

mod prepared;
mod programs;
mod replica;
mod shared;
mod tls;

use crate::NotStarted;
use crate::engine::{self, Kind, Owner, Process, port};
use programs::Programs;
use rustix::process::Signal;
use std::io::Result;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// SIGQUIT is PostgreSQL's immediate shutdown: no checkpoint, but every child ends too.
const KIND: Kind = Kind { name: "PostgreSQL", end: Signal::QUIT };

const USER: &str = "podo";

/// Several nodes under test share one server, each with its own pool.
const CONNECTIONS_MAX: u32 = 400;

/// The minimum size of the in-memory file system: containers often have only 64 MB.
const MEMORY_MIN: u64 = 4 << 30;

/// The durability of a commit in a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Durability {
    /// Possibly lost. Killed processes lose nothing, and tests run faster.
    Off,
    On,
}

/// The folder of a server.
enum Home {
    /// Deleted when dropped.
    Own(TempDir),
    /// Another owner deletes it.
    Shared(PathBuf),
}

impl Home {
    fn path(&self) -> &Path {
        match self {
            Home::Own(folder) => folder.path(),
            Home::Shared(folder) => folder,
        }
    }
}

/// A dedicated server on 127.0.0.1, unless it is the shared one. Dropping it ends it.
pub struct Postgres {
    process: Option<Process>,
    programs: Programs,
    durability: Durability,
    has_tls: bool,
    port: u16,
    /// Last, because the process must end before its folder is deleted.
    folder: Home,
}

impl Postgres {
    /// Starts a server that doesn't wait for the disk.
    pub fn start() -> std::result::Result<Postgres, NotStarted> {
        Postgres::start_new(Durability::Off, false)
    }

    /// Starts a server that also speaks TLS, as `localhost` only, with a certificate of the
    /// authority in `ca_path`.
    pub fn with_tls() -> std::result::Result<Postgres, NotStarted> {
        Postgres::start_new(Durability::Off, true)
    }

    /// Starts a server that waits for the disk at every commit, for crash tests.
    pub fn durable() -> std::result::Result<Postgres, NotStarted> {
        Postgres::start_new(Durability::On, false)
    }

    /// The URL of a database, for example `postgres://podo@127.0.0.1:12345/postgres`.
    pub fn url(&self, database: &str) -> String {
        format!("postgres://{USER}@127.0.0.1:{}/{database}", self.port)
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// The process id of the postmaster while it runs.
    pub fn pid(&self) -> Option<u32> {
        self.process.as_ref().map(Process::pid)
    }

    /// The file with everything that the server wrote.
    pub fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }

    pub fn log_path(&self) -> PathBuf {
        engine::log_path(self.folder.path())
    }

    pub fn create_database(&self, name: &str) -> Result<()> {
        self.create_database_from(name, "template1")
    }

    /// Copies a database, which must have no connections.
    pub fn create_database_from(&self, name: &str, template: &str) -> Result<()> {
        self.psql("postgres", &copy_of(template, name)).map(drop)
    }

    /// Runs one command and returns its rows: a line each, with `|` between the columns.
    pub fn psql(&self, database: &str, sql: &str) -> Result<String> {
        self.psql_each(database, &[sql])
    }

    /// Runs commands one after the other, each in its own transaction, until one fails.
    fn psql_each(&self, database: &str, commands: &[&str]) -> Result<String> {
        let mut psql = self.programs.client("psql", self.port);
        psql.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", database]);
        psql.args(commands.iter().flat_map(|sql| ["-c", *sql]));
        Ok(engine::run(&mut psql)?.trim_end().to_owned())
    }

    /// All rows of a database as text.
    pub fn dump(&self, database: &str) -> Result<String> {
        let mut dump = self.programs.client("pg_dump", self.port);
        engine::run(dump.args(["--data-only", "-d", database]))
    }

    /// Creates a database of that name for `pgbench`, PostgreSQL's own benchmark.
    pub fn prepare_pgbench(&self, database: &str) -> Result<()> {
        self.create_database(database)?;
        let mut pgbench = self.programs.client("pgbench", self.port);
        pgbench.args(["--initialize", "--quiet", "--scale", "20", database]);
        engine::run(&mut pgbench).map(drop)
    }

    /// Transactions per second of its `simple-update`, measured for this long.
    pub fn pgbench(&self, database: &str, n_clients: u32, seconds: u32) -> Result<f64> {
        let mut pgbench = self.programs.client("pgbench", self.port);
        pgbench.args(["--skip-some-updates", "--no-vacuum", "--protocol=prepared", "--jobs=2"]);
        pgbench.args([
            "--client",
            &n_clients.to_string(),
            "--time",
            &seconds.to_string(),
            database,
        ]);
        let output = engine::run(&mut pgbench)?;
        let rate = output.lines().find_map(|line| line.strip_prefix("tps = ")?.split(' ').next());
        let rate = rate.and_then(|rate| rate.parse().ok());
        rate.ok_or_else(|| std::io::Error::other(format!("pgbench says: {output}")))
    }

    /// Crashes it: connections are cut, and the next start recovers from the WAL.
    pub fn stop_immediate(&mut self) -> Result<()> {
        self.stop(Signal::QUIT)
    }

    /// Restarts it on the same data and the same port, after ending it if it still runs.
    pub fn restart(&mut self) -> std::result::Result<(), NotStarted> {
        if self.process.is_some() {
            self.stop(Signal::INT).map_err(|error| self.not_started(&error))?;
        }
        self.serve(&Owner::Us)
    }

    /// Freezes it: connections stay open and nothing answers.
    pub fn pause(&self) -> Result<()> {
        self.running()?.pause()
    }

    pub fn resume(&self) -> Result<()> {
        self.running()?.resume()
    }

    fn start_new(
        durability: Durability,
        has_tls: bool,
    ) -> std::result::Result<Postgres, NotStarted> {
        let mut postgres = Postgres::prepare(durability).map_err(|it| missing(&it))?;
        let filled = prepared::fill(&postgres.programs, &postgres.data());
        filled.map_err(|error| postgres.not_started(&error))?;
        if has_tls {
            postgres.make_certificates().map_err(|error| postgres.not_started(&error))?;
            postgres.has_tls = true;
        }
        postgres.serve_on_free_port(&Owner::Us)?;
        Ok(postgres)
    }

    /// Everything except the data and the process.
    fn prepare(durability: Durability) -> Result<Postgres> {
        let programs = Programs::find()?;
        let folder = Home::Own(TempDir::with_prefix_in("podo-postgres-", home(durability))?);
        programs.own(folder.path())?;
        Ok(Postgres { process: None, programs, durability, has_tls: false, port: 0, folder })
    }

    fn serve_on_free_port(&mut self, owner: &Owner) -> std::result::Result<(), NotStarted> {
        port::on_free_port(|port| {
            self.port = port.map_err(|error| self.not_started(&error))?;
            self.serve(owner)
        })
    }

    fn serve(&mut self, owner: &Owner) -> std::result::Result<(), NotStarted> {
        let mut server = self.programs.server("postgres");
        let socket_folder = self.folder.path();
        server.arg("-D").arg(self.data()).arg("-k").arg(socket_folder);
        server.args(["-h", "127.0.0.1", "-p", &self.port.to_string()]);
        server.args(["-N", &CONNECTIONS_MAX.to_string()]);
        if self.durability == Durability::Off {
            server.arg("-F");
        }
        if self.has_tls {
            server.args(self.tls_settings());
        }
        let start = Process::spawn_for(owner, KIND, &mut server, socket_folder);
        let start = start.and_then(|mut process| {
            let is_ready = || engine::run(&mut self.programs.client("pg_isready", self.port));
            process.wait_until_ready(|| Ok(is_ready().is_ok()))?;
            Ok(process)
        });
        self.process = Some(start.map_err(|error| self.not_started(&error))?);
        Ok(())
    }

    fn stop(&mut self, signal: Signal) -> Result<()> {
        let process = self.process.as_mut().ok_or_else(|| engine::not_running(KIND))?;
        process.end_by(signal)?;
        self.process = None;
        Ok(())
    }

    fn running(&self) -> Result<&Process> {
        self.process.as_ref().ok_or_else(|| engine::not_running(KIND))
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn not_started(&self, error: &std::io::Error) -> NotStarted {
        engine::not_started(KIND, self.folder.path(), error)
    }
}

/// A failure before there is a folder for a log.
fn missing(error: &std::io::Error) -> NotStarted {
    engine::not_started(KIND, Path::new(""), error)
}

/// In memory, if there is room: a test creates a thousand files, and most of them live for a
/// second.
fn home(durability: Durability) -> PathBuf {
    let memory = Path::new("/dev/shm");
    let n_free = rustix::fs::statvfs(memory).map_or(0, |it| it.f_bavail * it.f_frsize);
    match durability {
        Durability::Off if n_free > MEMORY_MIN => memory.to_owned(),
        Durability::Off | Durability::On => std::env::temp_dir(),
    }
}

fn copy_of(template: &str, name: &str) -> String {
    format!("create database {} template {}", quoted(name), quoted(template))
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

#[cfg(test)]
mod tests;
