//! The program as the steps of CI use it.

use crate::shell::{command, root, run};
use std::path::PathBuf;

/// Builds `podo` the way the tests build it, so that after them nothing is built a second time.
pub(crate) fn build() -> anyhow::Result<PathBuf> {
    run(&mut command("cargo", &["test", "--quiet", "--workspace", "--no-run"]))?;
    Ok(root().join("target/debug/podo"))
}
