//! This binary again, as a server in the sandbox: a process that can be killed.

use anyhow::{Context, Result, bail};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

pub(super) struct Server {
    process: Child,
    data: PathBuf,
    pub(super) url: String,
}

impl Server {
    pub(super) fn start(data: &Path) -> Result<Server> {
        let (process, url) = start(data, "127.0.0.1:0")?;
        Ok(Server { process, data: data.to_owned(), url })
    }

    /// Nothing is finished and nothing written that was not written before.
    pub(super) fn kill_and_restart(&mut self) -> Result<()> {
        self.process.kill()?;
        self.process.wait()?;
        let place = self.url.trim_start_matches("http://").to_owned();
        (self.process, self.url) = start(&self.data, &place)?;
        Ok(())
    }

    /// Asks it to stop and waits until it has.
    pub(super) fn stop(&mut self) -> Result<()> {
        let process = self.process.id().to_string();
        let asked = Command::new("kill").args(["-TERM", &process]).status()?;
        if !asked.success() {
            bail!("cannot stop the server");
        }
        self.process.wait()?;
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Without any setting of the real system: its store, its gateways and its mail stay out of reach.
fn start(data: &Path, listen: &str) -> Result<(Child, String)> {
    let mut command = Command::new(std::env::current_exe()?);
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| name.starts_with("PODO_")) {
            command.env_remove(&name);
        }
    }
    let mut process = command
        .args(["serve", "--listen", listen, "--data"])
        .arg(data)
        .env("PODO_LIMITS", "off")
        .env("RUST_LOG", "error")
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start the server")?;
    let output = process.stdout.take().context("the server has no output")?;
    let mut url = String::new();
    BufReader::new(output).read_line(&mut url)?;
    if url.trim().is_empty() {
        let _ = process.kill();
        bail!("the server did not start; see above");
    }
    Ok((process, url.trim().to_owned()))
}
