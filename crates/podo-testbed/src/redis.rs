//! A real Redis server: start, query, kill, freeze; standalone or as a cluster.

mod cluster;
mod log;
mod tls;

pub use cluster::RedisCluster;

use crate::NotStarted;
use crate::engine::{self, Kind, Process, port};
use rustix::process::Signal;
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;
use tls::Tls;

/// Nothing has to be saved, so it can be killed.
const KIND: Kind = Kind { name: "Redis", end: Signal::KILL };

/// The timeout of a ping before it is repeated.
const ANSWER_WITHIN: Duration = Duration::from_secs(1);

const IN_MEMORY: &[&str] = &["--appendonly", "no"];

/// Every write is in the append-only file before it is answered; only a power cut would need an
/// fsync.
const WITH_LOG: &[&str] = &["--appendonly", "yes", "--appendfsync", "no"];

const MISSING: &str = "Redis is not installed; install Debian's packages `redis-server` and \
     `redis-tools`, or run `cargo xtask test --only packages` as root";

/// A dedicated server on 127.0.0.1. Dropping it ends it.
pub struct Redis {
    process: Option<Process>,
    settings: &'static [&'static str],
    /// Without it, it speaks plain text.
    tls: Option<Tls>,
    port: u16,
    /// Last, because the process must end before its folder is deleted.
    folder: TempDir,
}

impl Redis {
    /// Starts a server that keeps everything in memory and nothing on disk.
    pub fn start() -> std::result::Result<Redis, NotStarted> {
        Redis::start_with(IN_MEMORY, None)
    }

    /// Starts one with an append-only file, whose last writes can be dropped.
    pub fn start_with_log() -> std::result::Result<Redis, NotStarted> {
        Redis::start_with(WITH_LOG, None)
    }

    /// Starts one that speaks only TLS.
    pub fn start_with_tls() -> std::result::Result<Redis, NotStarted> {
        Redis::start_with(IN_MEMORY, Some(make_tls()?))
    }

    /// The certificate that a client has to trust, as PEM; empty without TLS.
    pub fn certificate(&self) -> &str {
        self.tls.as_ref().map_or("", |tls| &tls.certificate)
    }

    /// Its URL, for example `redis://127.0.0.1:12345`, with TLS `rediss://…`. The same after a
    /// restart.
    pub fn url(&self) -> String {
        let scheme = if self.tls.is_some() { "rediss" } else { "redis" };
        format!("{scheme}://{}", self.address())
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Where its files are.
    pub fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }

    /// The process id while it runs.
    pub fn pid(&self) -> Option<u32> {
        self.process.as_ref().map(Process::pid)
    }

    /// The file with everything that the server wrote.
    pub fn log_path(&self) -> PathBuf {
        engine::log_path(self.folder.path())
    }

    /// Sends one command, for example `["get", "key"]`, and returns the answer as text.
    pub fn cli(&self, command: &[&str]) -> Result<String> {
        let mut cli = self.client();
        // With `-e` an error reply also fails the program.
        cli.args(["-h", "127.0.0.1", "-p", &self.port.to_string(), "-e"]).args(command);
        Ok(run(&mut cli)?.trim_end().to_owned())
    }

    /// Kills it: its memory is lost.
    pub fn kill_9(&mut self) -> Result<()> {
        let process = self.process.as_mut().ok_or_else(|| engine::not_running(KIND))?;
        process.end_by(Signal::KILL)?;
        self.process = None;
        Ok(())
    }

    /// Kills and restarts it without its last writes; a script counts as one.
    pub fn lose_last_writes(&mut self, n_writes: usize) -> std::result::Result<(), NotStarted> {
        let cut = self.kill_9().and_then(|()| log::cut(self.folder.path(), n_writes));
        cut.map_err(|error| self.not_started(&error))?;
        self.restart()
    }

    /// Restarts it on the same port, after ending it if it still runs.
    pub fn restart(&mut self) -> std::result::Result<(), NotStarted> {
        self.process = None;
        self.serve()
    }

    /// Freezes it: connections stay open and nothing answers.
    pub fn pause(&self) -> Result<()> {
        self.running()?.pause()
    }

    pub fn resume(&self) -> Result<()> {
        self.running()?.resume()
    }

    fn start_with(
        settings: &'static [&'static str],
        tls: Option<Tls>,
    ) -> std::result::Result<Redis, NotStarted> {
        let folder = TempDir::with_prefix("podo-redis-")
            .map_err(|error| NotStarted::new(KIND.name, &error, String::new()))?;
        if let Some(tls) = &tls {
            tls.save(folder.path())
                .map_err(|error| NotStarted::new(KIND.name, &error, String::new()))?;
        }
        let mut redis = Redis { process: None, settings, tls, port: 0, folder };
        port::on_free_port(|port| {
            redis.port = port.map_err(|error| redis.not_started(&error))?;
            redis.serve()
        })?;
        Ok(redis)
    }

    fn serve(&mut self) -> std::result::Result<(), NotStarted> {
        let mut server = Command::new("redis-server");
        match &self.tls {
            Some(_) => server.args(tls::server_settings(self.folder.path(), self.port)),
            None => server.args(["--port", &self.port.to_string()]),
        };
        server.args(["--bind", "127.0.0.1", "--save", ""]);
        server.arg("--dir").arg(self.folder.path()).args(self.settings);
        let start = Process::spawn(KIND, &mut server, self.folder.path())
            .map_err(name_what_is_missing)
            .and_then(|mut process| {
                process.wait_until_ready(|| self.is_ready())?;
                Ok(process)
            });
        self.process = Some(start.map_err(|error| self.not_started(&error))?);
        Ok(())
    }

    /// A missing client doesn't appear by waiting; any other failure may pass. The plain-text ping
    /// needs no client, because starting one costs as much as the server's own start.
    fn is_ready(&self) -> Result<bool> {
        if self.tls.is_none() {
            return Ok(self.ping().unwrap_or(false));
        }
        match self.cli(&["ping"]) {
            Ok(answer) => Ok(answer == "PONG"),
            Err(error) if error.kind() == ErrorKind::NotFound => Err(error),
            Err(_) => Ok(false),
        }
    }

    fn ping(&self) -> Result<bool> {
        let mut connection = TcpStream::connect(self.address())?;
        connection.set_read_timeout(Some(ANSWER_WITHIN))?;
        connection.write_all(b"PING\r\n")?;
        let mut answer = [0; b"+PONG\r\n".len()];
        connection.read_exact(&mut answer)?;
        Ok(answer == *b"+PONG\r\n")
    }

    fn client(&self) -> Command {
        let mut client = client();
        if self.tls.is_some() {
            client.args(tls::client_settings(self.folder.path()));
        }
        client
    }

    fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    fn running(&self) -> Result<&Process> {
        self.process.as_ref().ok_or_else(|| engine::not_running(KIND))
    }

    fn not_started(&self, error: &Error) -> NotStarted {
        engine::not_started(KIND, self.folder.path(), error)
    }
}

fn make_tls() -> std::result::Result<Tls, NotStarted> {
    Tls::make().map_err(|error| NotStarted::new(KIND.name, &error, String::new()))
}

fn client() -> Command {
    let mut client = Command::new("redis-cli");
    // A password of the user who runs the tests must not reach the server.
    client.env_remove("REDISCLI_AUTH");
    client
}

fn run(client: &mut Command) -> Result<String> {
    engine::run(client).map_err(name_what_is_missing)
}

fn name_what_is_missing(error: Error) -> Error {
    if error.kind() == ErrorKind::NotFound {
        return Error::new(ErrorKind::NotFound, MISSING);
    }
    error
}

#[cfg(test)]
mod tests;
