//! `cargo xtask test --only fuzz`: schemathesis reads the served OpenAPI document, makes up requests
//! that fit it and that do not, follows what the answers lead to, and checks every answer.

use crate::podo;
use crate::shell::{root, run, succeeds};
use anyhow::{Context, bail};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

const VERSION: &str = "4.32.5";

/// Chance is the same every time, and so is the number of cases (xtask/fuzz/schemathesis.toml): what
/// one machine finds, every machine finds.
const SEED: &str = "20261116";

const EMAIL: &str = "fuzz@podo.example";
const PASSWORD: &str = "sour green grapes";

pub(crate) fn check() -> anyhow::Result<()> {
    run_from(SEED)
}

/// The same with other chance.
pub(crate) fn run_from(seed: &str) -> anyhow::Result<()> {
    let schemathesis = provide()?;
    let server = Server::start(&podo::build()?)?;
    let document = format!("{}/api/openapi.json", server.url);
    let settings = root().join("xtask/fuzz/schemathesis.toml");
    let mut fuzz = Command::new(schemathesis);
    fuzz.current_dir(server.folder.clone());
    fuzz.args(["--config-file"]).arg(settings).args(["run", &document]);
    fuzz.args(["--checks", "all", "--seed", seed, "--workers", "1"]);
    // A stream does not end; crates/server/tests/it/stream_refusals.rs tries those.
    fuzz.args(["--exclude-path-regex", "/stream$", "--continue-on-failure", "--no-color"]);
    fuzz.env("SCHEMATHESIS_HOOKS", root().join("xtask/fuzz/hooks.py"));
    fuzz.env("PODO_URL", &server.url).env("PODO_EMAIL", EMAIL).env("PODO_PASSWORD", PASSWORD);
    run(&mut fuzz)
}

/// schemathesis in an environment of its own, which nothing else can disturb.
fn provide() -> anyhow::Result<PathBuf> {
    let home = root().join("target/tools/schemathesis");
    let program = home.join("bin/st");
    let is_there = succeeds(Command::new(&program).arg("--version"));
    if !is_there {
        run(Command::new("python3").args(["-m", "venv"]).arg(&home))?;
        let package = format!("schemathesis=={VERSION}");
        run(Command::new(home.join("bin/pip")).args(["install", "--quiet", &package]))?;
    }
    Ok(program)
}

/// The real program on a free port, ended when dropped.
struct Server {
    process: Child,
    url: String,
    folder: PathBuf,
}

impl Server {
    fn start(program: &Path) -> anyhow::Result<Server> {
        let folder = root().join("target/fuzz");
        if folder.exists() {
            std::fs::remove_dir_all(&folder)?;
        }
        std::fs::create_dir_all(&folder)?;
        let log = std::fs::File::create(folder.join("podo.log"))?;
        let mut podo = Command::new(program);
        podo.args(["serve", "--listen", "127.0.0.1:0"]).arg("--data").arg(folder.join("data"));
        // Limits would only slow the search down; they have tests of their own.
        podo.env("PODO_LIMITS", "off").env("PODO_ADMIN_IDLE_MINUTES", "0");
        podo.env("PODO_ADMIN_PROOF_MINUTES", "0").env("PODO_ADMIN_EMAIL", EMAIL);
        podo.env("PODO_ADMIN_PASSWORD", PASSWORD).stdout(Stdio::piped()).stderr(log);
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
}

impl Drop for Server {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}
