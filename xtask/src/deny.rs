//! `cargo xtask test --only deny`: licences, sources and crates that we do without.

use crate::shell::{command, run, succeeds};

const VERSION: &str = "0.20.2";

pub(crate) fn check() -> anyhow::Result<()> {
    provide()?;
    // It reads what other systems would build too, which nobody has fetched yet.
    run(&mut command("cargo", &["fetch", "--locked"]))?;
    let arguments = ["deny", "--offline", "--all-features", "check", "bans", "licenses", "sources"];
    run(&mut command("cargo", &arguments))
}

/// Built once, and kept where cargo keeps its tools. It runs for a second: making it faster would take
/// minutes.
fn provide() -> anyhow::Result<()> {
    if succeeds(&mut command("cargo", &["deny", "--version"])) {
        return Ok(());
    }
    let install = ["install", "cargo-deny", "--debug", "--locked", "--version", VERSION];
    run(&mut command("cargo", &install))
}
