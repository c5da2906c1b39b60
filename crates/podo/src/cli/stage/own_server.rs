//! Runs this binary as a server in another process.

use anyhow::{Context, Result, bail};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Killed when dropped.
pub(crate) struct OwnServer {
    pub(crate) process: Child,
    pub(crate) url: String,
}

/// This program, without arguments so far.
pub(crate) fn program() -> Result<Command> {
    Ok(Command::new(std::env::current_exe()?))
}

impl OwnServer {
    /// Starts `program` as a server, and waits until it prints its address.
    pub(crate) fn start(mut program: Command, listen: &str, data: &Path) -> Result<OwnServer> {
        program.args(["serve", "--listen", listen, "--data"]).arg(data).stdout(Stdio::piped());
        let mut process = program.spawn().context("cannot start the server")?;
        let output = process.stdout.take().context("the server has no output")?;
        let mut url = String::new();
        BufReader::new(output).read_line(&mut url)?;
        if url.trim().is_empty() {
            let _ = process.kill();
            bail!("the server did not start; see above");
        }
        Ok(OwnServer { process, url: url.trim().to_owned() })
    }

    /// Asks the server to stop, and waits until it has.
    pub(crate) fn stop(&mut self) -> Result<()> {
        let process = self.process.id().to_string();
        let asked = Command::new("kill").args(["-TERM", &process]).status()?;
        if !asked.success() {
            bail!("cannot stop the server");
        }
        self.process.wait()?;
        Ok(())
    }
}

impl Drop for OwnServer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
