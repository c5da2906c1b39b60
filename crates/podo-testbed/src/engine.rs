//! What all engines share: a process with a log, a guard, and an end that can be awaited.

mod guard;
pub(crate) mod not_started;
pub(crate) mod output;
pub(crate) mod port;

use crate::NotStarted;
use guard::Guard;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result, Seek};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The timeout of any single wait for an engine: generous, because a loaded machine is slow.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The poll interval: short compared with everything that is waited for.
const PAUSE: Duration = Duration::from_millis(5);

/// An engine's name, and the signal that ends it.
#[derive(Clone, Copy)]
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    pub(crate) end: Signal,
}

/// The owner of an engine, with which it ends.
pub(crate) enum Owner {
    Us,
    /// The process that started us, and a file to delete with the engine.
    Run {
        process: Pid,
        note: PathBuf,
    },
}

/// A running engine. Dropping it ends it; if a test failed, the end of its log is printed.
pub(crate) struct Process {
    kind: Kind,
    log: PathBuf,
    child: Child,
    guard: Guard,
}

impl Process {
    /// Starts it in its own process group: Ctrl-C goes to us, and we then end the engine.
    pub(crate) fn spawn(kind: Kind, command: &mut Command, folder: &Path) -> Result<Process> {
        Process::spawn_for(&Owner::Us, kind, command, folder)
    }

    pub(crate) fn spawn_for(
        owner: &Owner,
        kind: Kind,
        command: &mut Command,
        folder: &Path,
    ) -> Result<Process> {
        let path = log_path(folder);
        let log = output::open_log(&path)?;
        command.process_group(0).stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        let mut child = command.spawn()?;
        match Guard::over(&child, owner, kind.end, folder) {
            Ok(guard) => Ok(Process { kind, log: path, child, guard }),
            Err(error) => {
                child.kill()?;
                child.wait()?;
                Err(error)
            }
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn wait_until_ready(
        &mut self,
        mut is_ready: impl FnMut() -> Result<bool>,
    ) -> Result<()> {
        wait_until("it answers", || {
            if let Some(status) = self.child.try_wait()? {
                return Err(Error::new(ErrorKind::BrokenPipe, format!("it ended ({status})")));
            }
            is_ready()
        })
    }

    /// Sends the signal and waits for the end of the process.
    pub(crate) fn end_by(&mut self, signal: Signal) -> Result<()> {
        // After the process has been reaped, its id may belong to another process.
        if self.child.try_wait()?.is_none() {
            kill_process_group(Pid::from_child(&self.child), signal)?;
            wait_until("it ends", || Ok(self.child.try_wait()?.is_some()))?;
        }
        Ok(())
    }

    /// Stops the process first, so that it can't start further children, and then its children.
    pub(crate) fn pause(&self) -> Result<()> {
        kill_process(Pid::from_child(&self.child), Signal::STOP)?;
        self.signal_children(Signal::STOP)
    }

    pub(crate) fn resume(&self) -> Result<()> {
        self.signal_children(Signal::CONT)?;
        Ok(kill_process(Pid::from_child(&self.child), Signal::CONT)?)
    }

    fn signal_children(&self, signal: Signal) -> Result<()> {
        for child in children_of(self.pid())? {
            match kill_process(child, signal) {
                // A child that has ended meanwhile needs no signal.
                Ok(()) | Err(rustix::io::Errno::SRCH) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        if self.child.try_wait()?.is_none() {
            self.resume()?;
        }
        self.end_by(self.kind.end)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Nothing can be done about a failure here, and the test's own failure matters more.
        if self.end().is_err() {
            self.end_by(Signal::KILL).ok();
        }
        self.guard.dismiss();
        if std::thread::panicking() {
            eprintln!("the end of {}'s log:\n{}", self.kind.name, output::tail(&self.log));
        }
    }
}

/// The log file of an engine in `folder`.
pub(crate) fn log_path(folder: &Path) -> PathBuf {
    folder.join("engine.log")
}

/// The failure of an engine in `folder`, with its log.
pub(crate) fn not_started(kind: Kind, folder: &Path, error: &Error) -> NotStarted {
    NotStarted::new(kind.name, error, output::tail(&log_path(folder)))
}

pub(crate) fn not_running(kind: Kind) -> Error {
    Error::new(ErrorKind::NotFound, format!("{} is not running", kind.name))
}

/// Polls until done; an error ends the wait.
pub(crate) fn wait_until(what: &str, mut is_done: impl FnMut() -> Result<bool>) -> Result<()> {
    let start = Instant::now();
    while !is_done()? {
        if PATIENCE <= start.elapsed() {
            let text = format!("waited {PATIENCE:?} in vain until {what}");
            return Err(Error::new(ErrorKind::TimedOut, text));
        }
        std::thread::sleep(PAUSE);
    }
    Ok(())
}

/// Runs a program to its end. Returns its stdout, or an error with all of its output.
pub(crate) fn run(command: &mut Command) -> Result<String> {
    // Files instead of pipes, which would have to be read while the program runs.
    let (mut stdout, mut stderr) = (tempfile::tempfile()?, tempfile::tempfile()?);
    command.stdin(Stdio::null()).stdout(stdout.try_clone()?).stderr(stderr.try_clone()?);
    let mut child = command.spawn()?;
    let waited = wait_until("it ends", || Ok(child.try_wait()?.is_some()));
    if waited.is_err() {
        child.kill()?;
    }
    let status = child.wait()?;
    let (text, complaint) = (read_again(&mut stdout)?, read_again(&mut stderr)?);
    let why = match waited {
        Ok(()) if status.success() => return Ok(text),
        Ok(()) => format!("failed ({status})"),
        Err(error) => error.to_string(),
    };
    let program = command.get_program().to_string_lossy();
    Err(Error::other(format!("{program}: {why}\n{complaint}{text}")))
}

fn read_again(file: &mut File) -> Result<String> {
    let mut text = String::new();
    file.rewind()?;
    file.read_to_string(&mut text)?;
    Ok(text)
}

fn children_of(parent: u32) -> Result<Vec<Pid>> {
    let mut children = Vec::new();
    for entry in std::fs::read_dir("/proc")? {
        let Ok(id) = entry?.file_name().to_string_lossy().parse::<i32>() else { continue };
        // A process may end between the listing and the read.
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        if parent_in(&stat) == Some(parent) {
            children.extend(Pid::from_raw(id));
        }
    }
    Ok(children)
}

/// The parent in a line such as `42 (a name) S 7 …`; the name may contain anything.
fn parent_in(stat: &str) -> Option<u32> {
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
pub(crate) mod tests;
