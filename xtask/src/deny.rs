//! `cargo xtask test --only deny`: licences, sources and crates that we do without.

use crate::shell::{command, root, run, succeeds};
use std::path::PathBuf;
use std::process::Command;

const VERSION: &str = "0.20.2";

pub(crate) fn check() -> anyhow::Result<()> {
    let program = provide()?;
    let mut deny = Command::new(program);
    deny.current_dir(root()).args(["--offline", "--all-features", "check"]);
    run(deny.args(["bans", "licenses", "sources"]))
}

/// The version that we know, built once.
fn provide() -> anyhow::Result<PathBuf> {
    let home = root().join("target/tools");
    let program = home.join("bin/cargo-deny");
    if !succeeds(Command::new(&program).arg("--version")) {
        let mut install = command("cargo", &["install", "cargo-deny", "--locked"]);
        install.args(["--version", VERSION, "--root"]).arg(&home);
        run(install.arg("--target-dir").arg(home.join("build")))?;
    }
    Ok(program)
}
