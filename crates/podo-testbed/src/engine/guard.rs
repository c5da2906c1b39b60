//! Ends an engine when its owner dies without cleaning up, for example at Ctrl-C or a timeout.

use crate::engine::Owner;
use rustix::process::Signal;
use std::io::Result;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Waits for the end of its stdin, which only its owner holds open, or for the end of the given
/// process. It then ends the engine and deletes its files, as the owner no longer can. An engine
/// that has ended but wasn't reaped (`Z`) isn't running.
const SCRIPT: &str = r#"
is_running() { grep -q "^State:[[:space:]]*[^ZX[:space:]]" "/proc/$1/status"; }
if [ "$3" = us ]; then read -r _; else tail --pid="$3" -s 0.2 -f /dev/null; fi
kill -s CONT -- "-$1"
kill -s "$2" -- "-$1"
n=0
while is_running "$1" && [ "$n" -lt 200 ]; do sleep 0.05; n=$((n + 1)); done
kill -s KILL -- "-$1"
shift 3
rm -rf -- "$@"
"#;

pub(super) struct Guard {
    shell: Child,
}

impl Guard {
    pub(super) fn over(engine: &Child, owner: &Owner, end: Signal, folder: &Path) -> Result<Guard> {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", SCRIPT, "guard", &engine.id().to_string(), &end.as_raw().to_string()]);
        match owner {
            Owner::Us => shell.arg("us"),
            Owner::Run { process, note } => shell.arg(process.to_string()).arg(note),
        };
        let shell = shell
            .arg(folder)
            // Signals to the owner's process group must not end the guard.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        Ok(Guard { shell })
    }

    /// Dismisses the guard: the engine has ended. Killed before its stdin is closed, it does
    /// nothing.
    pub(super) fn dismiss(&mut self) {
        self.shell.kill().ok();
        self.shell.wait().ok();
    }

    /// Closes stdin, as the end of the owner does.
    #[cfg(test)]
    pub(super) fn lose_owner(&mut self) {
        self.shell.stdin = None;
    }
}
