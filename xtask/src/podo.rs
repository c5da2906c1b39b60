//! The program as the steps of CI use it.

use crate::shell::{built, command, root, run};
use anyhow::{Context, bail};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// E-mail address and password of the organiser.
pub(crate) const ORGANISER: (&str, &str) = ("organiser@podo.example", "sour green grapes");

/// Builds `podo` the way the tests build it, so that after them nothing is built a second time.
pub(crate) fn build() -> anyhow::Result<PathBuf> {
    run(&mut command("cargo", &["test", "--quiet", "--workspace", "--no-run"]))?;
    Ok(built("debug").join("podo"))
}

/// The real program on a free port, ended when dropped.
pub(crate) struct Server {
    process: Child,
    pub(crate) url: String,
    pub(crate) folder: PathBuf,
}

impl Server {
    /// Starts it with an organiser, in a fresh folder of this name below `target`.
    pub(crate) fn start(name: &str) -> anyhow::Result<Server> {
        Server::start_with(name, &[])
    }

    /// The same with more settings, as environment variables.
    pub(crate) fn start_with(name: &str, settings: &[(&str, String)]) -> anyhow::Result<Server> {
        let program = build()?;
        let folder = root().join("target").join(name);
        if folder.exists() {
            std::fs::remove_dir_all(&folder)?;
        }
        std::fs::create_dir_all(&folder)?;
        let log = std::fs::File::create(folder.join("podo.log"))?;
        let mut podo = Command::new(program);
        podo.args(["serve", "--listen", "127.0.0.1:0"]).arg("--data").arg(folder.join("data"));
        // Limits would only slow the search down; they have tests of their own.
        podo.env("PODO_LIMITS", "off").env("PODO_ADMIN_IDLE_MINUTES", "0");
        podo.env("PODO_ADMIN_PROOF_MINUTES", "0").env("PODO_ADMIN_EMAIL", ORGANISER.0);
        podo.env("PODO_ADMIN_PASSWORD", ORGANISER.1).stdout(Stdio::piped()).stderr(log);
        podo.envs(settings.iter().map(|(name, value)| (name, value)));
        let mut process = podo.spawn().context("podo cannot be started")?;
        let mut line = String::new();
        if let Some(output) = process.stdout.take() {
            BufReader::new(output).read_line(&mut line)?;
        }
        match line.trim().strip_prefix("http://") {
            Some(address) => Ok(Server { url: format!("http://{address}"), process, folder }),
            None => {
                process.kill().ok();
                bail!("podo did not start: see {}", folder.join("podo.log").display())
            }
        }
    }

    /// Where it is and who its organiser is, as environment variables of a client.
    pub(crate) fn settings(&self) -> [(&'static str, &str); 3] {
        [("PODO_URL", &self.url), ("PODO_EMAIL", ORGANISER.0), ("PODO_PASSWORD", ORGANISER.1)]
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}
