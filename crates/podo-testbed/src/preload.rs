//! Libraries for `LD_PRELOAD`, compiled when a test needs them.

use crate::Launch;
use std::io::{Error, Result};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Compiles a file of this crate's sources into a library for `LD_PRELOAD`.
pub(crate) fn compile(source: &str, folder: &Path) -> Result<PathBuf> {
    let library = folder.join(source).with_extension("so");
    let mut compile = Command::new("cc");
    compile.args(["-shared", "-fPIC", "-O1", "-Wall", "-pthread", "-o"]).arg(&library);
    compile.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/preload").join(source));
    let compiled = compile.status()?;
    if !compiled.success() {
        return Err(Error::other(format!("{compile:?}: {compiled}")));
    }
    Ok(library)
}

/// A machine's system clock that is set wrong.
pub struct SkewedClock {
    library: PathBuf,
    _folder: TempDir,
}

impl SkewedClock {
    pub fn new() -> Result<SkewedClock> {
        let folder = TempDir::with_prefix("podo-clock-")?;
        Ok(SkewedClock { library: compile("skewed_clock.c", folder.path())?, _folder: folder })
    }

    /// Makes the process see a clock that is this many seconds ahead.
    pub fn attach(&self, launch: Launch, ahead_s: i64) -> Launch {
        launch.env("LD_PRELOAD", &self.library).env("CLOCK_AHEAD_SECONDS", ahead_s.to_string())
    }
}
