//! A real `podo` process: start, request, kill, restart.

use crate::NotStarted;
use crate::engine::output;
use crate::network::http;
use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit};
use std::ffi::{OsStr, OsString};
use std::io::{Error, ErrorKind, Result};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The default timeout of a start, or of a shutdown after SIGTERM.
const PATIENCE: Duration = Duration::from_secs(30);

/// Settings of the user who runs the tests must not reach the process.
const SETTINGS: [&str; 10] = [
    "PODO_ADMIN_EMAIL",
    "PODO_ADMIN_PASSWORD",
    "PODO_BUS_URL",
    "PODO_CONFIG",
    "PODO_DATA",
    "PODO_LIMITS",
    "PODO_LISTEN",
    "PODO_LIVE_URL",
    "PODO_ROLES",
    "PODO_STORE_URL",
];

/// How to start `podo`.
#[derive(Clone, Debug)]
pub struct Launch {
    binary: PathBuf,
    before: Vec<OsString>,
    arguments: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
    data: Option<PathBuf>,
    patience: Duration,
}

impl Launch {
    /// `binary` is the path of the built program: `env!("CARGO_BIN_EXE_podo")`.
    pub fn new(binary: impl Into<PathBuf>) -> Launch {
        Launch {
            binary: binary.into(),
            before: Vec::new(),
            arguments: Vec::new(),
            environment: Vec::new(),
            data: None,
            patience: PATIENCE,
        }
    }

    /// Adds an argument after `serve --listen … --data …`.
    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Launch {
        self.arguments.push(argument.as_ref().to_owned());
        self
    }

    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Launch {
        self.environment.push((name.as_ref().to_owned(), value.as_ref().to_owned()));
        self
    }

    /// Keeps the data in this folder instead of a temporary one.
    pub fn data(mut self, folder: impl Into<PathBuf>) -> Launch {
        self.data = Some(folder.into());
        self
    }

    /// Limits its open files (`ulimit -n`).
    pub fn open_files(mut self, n_files: u32) -> Launch {
        let limit = format!("ulimit -n {n_files} && exec \"$0\" \"$@\"");
        let podo = std::mem::replace(&mut self.binary, "/bin/sh".into());
        self.before = vec!["-c".into(), limit.into(), podo.into()];
        self
    }

    /// The timeout of a start, or of a shutdown after SIGTERM.
    pub fn patience(mut self, limit: Duration) -> Launch {
        self.patience = limit;
        self
    }

    /// Starts the process and waits until it is ready.
    pub fn start(self) -> std::result::Result<Podo, NotStarted> {
        let folder = TempDir::with_prefix("podo-")
            .map_err(|error| NotStarted::new("podo", &error, String::new()))?;
        let mut podo = Podo {
            launch: self,
            folder,
            listen: "127.0.0.1:0".to_owned(),
            url: String::new(),
            child: None,
        };
        podo.start()?;
        Ok(podo)
    }
}

/// A process that is killed when dropped. If a test failed, the end of its log is printed.
pub struct Podo {
    launch: Launch,
    /// Holds the log, and the data unless the test gave a folder for it.
    folder: TempDir,
    listen: String,
    url: String,
    child: Option<Child>,
}

impl Podo {
    /// Its URL, for example `http://127.0.0.1:43121`. The same after a restart.
    pub fn url(&self) -> &str {
        &self.url
    }

    pub fn data(&self) -> PathBuf {
        self.launch.data.clone().unwrap_or_else(|| self.folder.path().join("data"))
    }

    /// The file with everything it wrote to stderr, and to stdout after the first line.
    pub fn log_path(&self) -> PathBuf {
        self.folder.path().join("podo.log")
    }

    /// The process id while it runs.
    pub fn pid(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    /// Whether it has ended by itself.
    pub fn has_ended(&mut self) -> Result<bool> {
        let Some(child) = self.child.as_mut() else { return Ok(true) };
        let has_ended = child.try_wait()?.is_some();
        if has_ended {
            self.child = None;
        }
        Ok(has_ended)
    }

    /// Lets none of its files grow beyond this many bytes, as a full disk would; the limit stays.
    /// With 0 the disk is effectively read-only. Only a process that ignores SIGXFSZ survives it.
    pub fn limit_files(&self, bytes: Option<u64>) -> Result<()> {
        let child = self.child.as_ref().ok_or_else(gone)?;
        let limit = Rlimit { current: bytes, maximum: None };
        prlimit(Some(Pid::from_child(child)), Resource::Fsize, limit)?;
        Ok(())
    }

    /// Kills it without a clean shutdown: nothing is flushed.
    pub fn kill_9(&mut self) -> Result<()> {
        if let Some(mut child) = self.child.take() {
            child.kill()?;
            child.wait()?;
        }
        Ok(())
    }

    /// Freezes it: connections stay open, nothing answers, and the clock continues.
    pub fn pause(&self) -> Result<()> {
        self.signal(Signal::STOP)
    }

    pub fn resume(&self) -> Result<()> {
        self.signal(Signal::CONT)
    }

    fn signal(&self, signal: Signal) -> Result<()> {
        let child = self.child.as_ref().ok_or_else(gone)?;
        Ok(kill_process(Pid::from_child(child), signal)?)
    }

    /// Sends SIGTERM, waits, and returns the exit status.
    pub fn terminate(&mut self) -> Result<ExitStatus> {
        let child = self.child.as_mut().ok_or_else(gone)?;
        kill_process(Pid::from_child(child), Signal::TERM)?;
        let status = wait(child, self.launch.patience)?;
        self.child = None;
        Ok(status)
    }

    /// Restarts it on the same data and the same port, after ending it if it still runs.
    pub fn restart(&mut self) -> std::result::Result<(), NotStarted> {
        if self.child.is_some() {
            self.terminate().map_err(|error| self.not_started(&error))?;
        }
        self.start()
    }

    fn start(&mut self) -> std::result::Result<(), NotStarted> {
        self.spawn_and_wait().map_err(|error| {
            let failure = self.not_started(&error);
            // The test already gets the failure; an error of the kill adds nothing.
            self.kill_9().ok();
            failure
        })
    }

    fn spawn_and_wait(&mut self) -> Result<()> {
        let log = output::open_log(&self.log_path())?;
        let child = self.child.insert(self.command(log.try_clone()?).spawn()?);
        let stdout = child.stdout.take().ok_or_else(|| Error::other("stdout is not a pipe"))?;
        let line = output::first_line(stdout, log, self.launch.patience)?;
        let address = http::address(&line)?;
        let is_alive = || matches!(child.try_wait(), Ok(None));
        http::wait_for_ok(address, "/readyz", self.launch.patience, is_alive)?;
        self.listen = address.to_string();
        self.url = format!("http://{address}");
        Ok(())
    }

    fn command(&self, log: std::fs::File) -> Command {
        let launch = &self.launch;
        let mut command = Command::new(&launch.binary);
        for setting in SETTINGS {
            command.env_remove(setting);
        }
        command
            .args(&launch.before)
            .args(["serve", "--listen", &self.listen, "--data"])
            .arg(self.data())
            .args(&launch.arguments)
            .envs(launch.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log);
        command
    }

    fn not_started(&self, error: &Error) -> NotStarted {
        NotStarted::new("podo", error, output::tail(&self.log_path()))
    }
}

impl Drop for Podo {
    fn drop(&mut self) {
        // Nothing can be done about a failure here, and the test's own failure matters more.
        self.kill_9().ok();
        if std::thread::panicking() {
            eprintln!("the end of podo's log:\n{}", output::tail(&self.log_path()));
        }
    }
}

fn gone() -> Error {
    Error::new(ErrorKind::NotFound, "podo is not running")
}

/// Waits for the end of a process with a timeout, which `std` doesn't offer.
fn wait(child: &mut Child, limit: Duration) -> Result<ExitStatus> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if limit <= start.elapsed() {
            let what = format!("podo still runs {limit:?} after SIGTERM");
            return Err(Error::new(ErrorKind::TimedOut, what));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[cfg(test)]
#[path = "podo_tests.rs"]
mod tests;
