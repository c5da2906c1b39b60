//! `cargo xtask test --only fuzz`: schemathesis reads the served OpenAPI document, makes up requests
//! that fit it and that do not, follows what the answers lead to, and checks every answer.

use crate::podo::Server;
use crate::shell::{python_tool, root, run};
use std::path::PathBuf;
use std::process::Command;

const VERSION: &str = "4.32.5";

/// The random numbers are the same every time, and so is the number of cases (xtask/fuzz/schemathesis.toml): what
/// one machine finds, every machine finds.
const SEED: &str = "20261116";

pub(crate) fn check() -> anyhow::Result<()> {
    run_from(SEED)
}

/// The same with other chance.
pub(crate) fn run_from(seed: &str) -> anyhow::Result<()> {
    let schemathesis = provide()?;
    let server = Server::start("fuzz")?;
    let document = format!("{}/api/openapi.json", server.url);
    let settings = root().join("xtask/fuzz/schemathesis.toml");
    let mut fuzz = Command::new(schemathesis);
    fuzz.current_dir(server.folder.clone());
    fuzz.args(["--config-file"]).arg(settings).args(["run", &document]);
    fuzz.args(["--checks", "all", "--seed", seed, "--workers", "1"]);
    // A stream does not end; crates/podo/tests/it/waiting_room/stream_refusals.rs tries those.
    fuzz.args(["--exclude-path-regex", "/stream$", "--continue-on-failure", "--no-color"]);
    fuzz.env("SCHEMATHESIS_HOOKS", root().join("xtask/fuzz/hooks.py"));
    run(fuzz.envs(server.settings()))
}

/// schemathesis in an environment of its own, which nothing else can disturb.
fn provide() -> anyhow::Result<PathBuf> {
    python_tool("schemathesis", VERSION, "st")
}
