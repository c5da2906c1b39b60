//! `cargo xtask test --only deny`: licences, sources, crates that we do without, and known holes.

use crate::shell::{command, run, succeeds};
use std::path::PathBuf;

const VERSION: &str = "0.20.2";

const NO_DATABASE: &str = "\
    NOT CHECKED: known holes (advisories). There is no database of them on this machine.\n\
    With access to github.com: `cargo deny check advisories` (docs/security.md).";

pub(crate) fn check() -> anyhow::Result<()> {
    provide()?;
    // It reads what other systems would build too, which are not downloaded.
    run(&mut command("cargo", &["fetch", "--locked"]))?;
    let offline = ["deny", "--offline", "--all-features", "check"];
    let mut rules = command("cargo", &offline);
    run(rules.args(["bans", "licenses", "sources"]))?;
    if !has_advisories() {
        println!("{NO_DATABASE}");
        return Ok(());
    }
    run(command("cargo", &offline).arg("advisories"))
}

/// Whether cargo-deny has fetched the database before, where it keeps it by default.
#[expect(clippy::disallowed_methods, reason = "where cargo lives is no setting of ours")]
fn has_advisories() -> bool {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    let folder = home.map(|home| home.join("advisory-dbs"));
    folder.and_then(|it| it.read_dir().ok()).is_some_and(|mut entries| entries.next().is_some())
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
