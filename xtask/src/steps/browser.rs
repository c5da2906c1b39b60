//! The pages in real Chromium: their tests, and pictures of them. What npm brings stays in `target`.

use crate::podo;
use crate::shell::{built, command, copy_files, file_names, folder_names, root, run};
use std::path::{Path, PathBuf};
use std::process::Command;

const SOURCE: &str = "tests/browser";

/// The tests, each file in a process of its own, two at a time. On a machine that others share a
/// browser may be starved of time: what failed beside another gets a second try alone.
pub(crate) fn test() -> anyhow::Result<()> {
    let folder = prepare()?;
    let files = test_files(&folder)?;
    let side_by_side = node(&folder, &["--test", "--test-concurrency=2"]);
    run_files(side_by_side, &files).or_else(|error| {
        println!("A second try, one file after the other, because {error}");
        run_files(node(&folder, &["--test", "--test-concurrency=1"]), &files)
    })
}

/// The tests in the folders of the rooms, in the order of their names: the longest begins first.
fn test_files(folder: &Path) -> anyhow::Result<Vec<String>> {
    let mut files = Vec::new();
    for room in folder_names(&root().join(SOURCE))? {
        let names = file_names(&folder.join(&room))?;
        let tests = names.into_iter().filter(|name| name.ends_with(".test.mjs"));
        files.extend(tests.map(|name| (name, room.clone())));
    }
    files.sort_unstable();
    Ok(files.into_iter().map(|(name, room)| format!("{room}/{name}")).collect())
}

fn run_files(mut tests: Command, files: &[String]) -> anyhow::Result<()> {
    run(tests.args(files))
}

/// Every page, light, dark and on a phone, into `target/screens`.
pub(crate) fn screens() -> anyhow::Result<()> {
    let folder = prepare()?;
    let pictures = root().join("target/screens");
    run(node(&folder, &["support/screens.mjs"]).arg(pictures))
}

fn node(folder: &Path, arguments: &[&str]) -> Command {
    let mut node = command("node", arguments);
    node.current_dir(folder).env("PODO", built("debug").join("podo"));
    node
}

/// A folder of its own with the tests, the words of the pages and what npm brings; the server is
/// built beside it.
fn prepare() -> anyhow::Result<PathBuf> {
    podo::build()?;
    let folder = root().join("target/browser");
    let source = root().join(SOURCE);
    copy_files(&source, &folder, str::to_owned)?;
    for room in folder_names(&source)? {
        let copy = folder.join(&room);
        // A test that was removed or renamed must not run again.
        if copy.exists() {
            std::fs::remove_dir_all(&copy)?;
        }
        copy_files(&source.join(&room), &copy, str::to_owned)?;
    }
    copy_files(&root().join("web/fan/words"), &folder.join("words"), str::to_owned)?;
    run(command("npm", &["ci", "--no-audit", "--no-fund"]).current_dir(&folder))?;
    Ok(folder)
}
