//! Runs the same benchmark with a slower disk: starts this program again, with its `fsync` calls
//! delayed.

use std::process::Command;
use tempfile::TempDir;

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/group_commit/slow_disk.c");

pub(crate) fn run_again(ms: f64) {
    let folder = TempDir::with_prefix("podo-").expect("a folder");
    let library = folder.path().join("slow_disk.so");
    let delay = format!("-DSYNC_US={:.0}", ms * 1_000.0);
    let mut compile = Command::new("cc");
    run(compile.args(["-shared", "-fPIC", "-o"]).arg(&library).args([&delay, SOURCE, "-ldl"]));
    let program = std::env::current_exe().expect("this program is a file");
    run(Command::new(program).env("LD_PRELOAD", &library));
}

fn run(command: &mut Command) {
    let status = command.status().expect("a C compiler");
    assert!(status.success(), "{command:?}: {status}");
}
