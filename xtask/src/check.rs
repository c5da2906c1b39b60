//! `cargo xtask check`: the quick loop. Formatting, lints, the shape of the tree, and those tests of
//! the changed packages that need no other program.

mod selection;
mod suites;

use crate::shell::{command, read, run as run_command};
use crate::tidy;
use anyhow::bail;
use selection::{Package, select};
use std::collections::BTreeSet;
use std::time::Instant;

pub(crate) fn run(options: &[&str]) -> anyhow::Result<()> {
    let start = Instant::now();
    let base = base_of(options)?;
    let changed = changed_files(base)?;
    let packages = Package::of_workspace()?;
    let selected = select(&changed, &packages);
    println!("{} files differ from {base}; packages: {}", changed.len(), names(&selected));
    run_command(&mut command("cargo", &["fmt", "--all", "--check"]))?;
    tidy::check_tree()?;
    if selected.is_empty() {
        println!("No package changed: no lints, no tests.");
    } else {
        clippy()?;
        test(&selected)?;
    }
    println!("{}", suites::left_out(&selected));
    println!("passed in {:.0} s", start.elapsed().as_secs_f64());
    Ok(())
}

fn base_of<'a>(options: &[&'a str]) -> anyhow::Result<&'a str> {
    match options {
        [] => Ok("HEAD"),
        ["--base", base] => Ok(base),
        _ => bail!("`cargo xtask check` takes only `--base REV`"),
    }
}

/// Files that differ from the point where this branch left `base`, and those that git doesn't
/// track yet.
fn changed_files(base: &str) -> anyhow::Result<Vec<String>> {
    let diff = read(&mut command("git", &["diff", "--name-only", "--merge-base", base]))?;
    let new = read(&mut command("git", &["ls-files", "--others", "--exclude-standard"]))?;
    let files: BTreeSet<&str> = diff.lines().chain(new.lines()).collect();
    Ok(files.into_iter().map(str::to_owned).collect())
}

fn names(selected: &BTreeSet<&str>) -> String {
    match selected.is_empty() {
        true => "none".to_owned(),
        false => selected.iter().copied().collect::<Vec<_>>().join(", "),
    }
}

/// The whole workspace: cargo skips packages that didn't change. With `-p` it would choose other
/// features for shared dependencies and compile those a second time.
fn clippy() -> anyhow::Result<()> {
    let arguments = ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
    run_command(&mut command("cargo", &arguments))
}

fn test(selected: &BTreeSet<&str>) -> anyhow::Result<()> {
    let mut nextest = command("cargo", &["nextest", "run", "--workspace"]);
    nextest.args(suites::targets(selected)).args(["-E", &suites::filter(selected)]);
    run_command(&mut nextest)
}

#[test]
fn the_base_is_the_last_commit_unless_another_is_named() {
    assert_eq!(base_of(&[]).unwrap(), "HEAD");
    assert_eq!(base_of(&["--base", "main"]).unwrap(), "main");
    assert!(base_of(&["--base"]).is_err());
    assert!(base_of(&["--fast"]).is_err());
}
