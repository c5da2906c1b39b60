//! `cargo xtask test --only deny`: licences, sources and crates that we do without.

use crate::shell::{command, run, succeeds};

const VERSION: &str = "0.20.2";

pub(crate) fn check() -> anyhow::Result<()> {
    provide()?;
    let arguments = ["deny", "--offline", "--all-features", "check", "bans", "licenses", "sources"];
    run(&mut command("cargo", &arguments))
}

/// Built once, and kept where cargo keeps its tools.
fn provide() -> anyhow::Result<()> {
    if succeeds(&mut command("cargo", &["deny", "--version"])) {
        return Ok(());
    }
    run(&mut command("cargo", &["install", "cargo-deny", "--locked", "--version", VERSION]))
}
