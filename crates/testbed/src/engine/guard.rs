//! Ends an engine when its owner dies without a goodbye, for example at Ctrl-C or a timeout.

use rustix::process::Signal;
use std::io::Result;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Waits for the end of its stdin, which only its owner holds open. Then it does what the owner
/// cannot do any more: ends the engine and deletes its folder. An engine that ended but that nobody
/// waited for (`Z`) is not running.
const SCRIPT: &str = r#"
read -r _
kill -s CONT -- "-$1"
kill -s "$2" -- "-$1"
is_running() { grep -q "^State:[[:space:]]*[^ZX[:space:]]" "/proc/$1/status"; }
n=0
while is_running "$1" && [ "$n" -lt 200 ]; do sleep 0.05; n=$((n + 1)); done
kill -s KILL -- "-$1"
rm -rf -- "$3"
"#;

pub(super) struct Guard {
    shell: Child,
}

impl Guard {
    pub(super) fn over(engine: &Child, end: Signal, folder: &Path) -> Result<Guard> {
        let shell = Command::new("/bin/sh")
            .args(["-c", SCRIPT, "guard", &engine.id().to_string(), &end.as_raw().to_string()])
            .arg(folder)
            // What ends the owner must not end the guard: it is in no group of the owner.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        Ok(Guard { shell })
    }

    /// Sends it home: the engine has ended. Killed before its stdin is closed, it does nothing.
    pub(super) fn dismiss(&mut self) {
        self.shell.kill().ok();
        self.shell.wait().ok();
    }

    /// What the guard sees when its owner is gone.
    #[cfg(test)]
    pub(super) fn lose_owner(&mut self) {
        self.shell.stdin = None;
    }
}
