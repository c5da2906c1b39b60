//! How many modules or pages a folder holds: few enough to read at a glance, and more than one.

use crate::tidy::{File, Violation};
use std::collections::{BTreeMap, BTreeSet};

const ENTRIES_MAX: usize = 12;

/// The tests of the pages.
const BROWSER: &str = "tests/browser";

/// Folders of Rust modules, of pages and of their tests. `x.rs` and its folder `x/` are one entry, a crate's root is
/// none.
pub(super) fn check(files: &[File]) -> Vec<Violation> {
    let mut folders: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for file in files.iter().filter(|file| is_module(&file.path)) {
        let mut path = file.path.as_str();
        while let Some((folder, name)) = path.rsplit_once('/') {
            if !is_source(folder) {
                break;
            }
            let entry = name.strip_suffix(".rs").unwrap_or(name);
            if !["lib", "main"].contains(&entry) {
                folders.entry(folder).or_default().insert(entry);
            }
            path = folder;
        }
    }
    folders.into_iter().filter_map(|(folder, entries)| judge(folder, entries.len())).collect()
}

fn judge(folder: &str, n_entries: usize) -> Option<Violation> {
    let is_root = [BROWSER, "web"].contains(&folder)
        || ["/src", "/tests"].iter().any(|end| folder.ends_with(end));
    let what = match n_entries {
        1 if !is_root => "one entry: put it beside the folder".to_owned(),
        n if ENTRIES_MAX < n => format!("{n} entries, at most {ENTRIES_MAX}: group them by room"),
        _ => return None,
    };
    Some(Violation { path: folder.to_owned(), line: 1, what })
}

fn is_module(path: &str) -> bool {
    let is_script = path.starts_with(BROWSER) && path.ends_with(".mjs");
    path.starts_with("web/") || is_script || (path.ends_with(".rs") && is_source(path))
}

fn is_source(path: &str) -> bool {
    let inside = |part: &str| path.contains(&format!("/{part}/")) || path.ends_with(part);
    path.starts_with("web")
        || path.starts_with(BROWSER)
        || inside("src")
        || path.contains("/tests/")
}

#[cfg(test)]
fn folders(paths: &[&str], printed: &[&str]) {
    let files: Vec<File> = paths.iter().map(|path| crate::tidy::file(path, "")).collect();
    let found = check(&files);
    assert_eq!(found.iter().map(Violation::to_string).collect::<Vec<_>>(), printed);
}

#[test]
fn a_module_and_its_folder_are_one_entry() {
    let twelve: Vec<String> = (0..12).map(|n| format!("crates/a/src/m{n}.rs")).collect();
    let mut paths: Vec<&str> = twelve.iter().map(String::as_str).collect();
    paths.extend(["crates/a/src/lib.rs", "crates/a/src/m0/x.rs", "crates/a/src/m0/y.rs"]);
    folders(&paths, &[]);
    paths.push("crates/a/src/m12.rs");
    folders(&paths, &["crates/a/src:1: 13 entries, at most 12: group them by room"]);
}

#[test]
fn a_folder_for_one_file_is_refused() {
    folders(
        &["crates/a/src/m.rs", "crates/a/src/m/only.rs"],
        &["crates/a/src/m:1: one entry: put it beside the folder"],
    );
    folders(&["crates/a/src/lib.rs", "crates/a/benches/shared/x.rs"], &[]);
}

#[test]
fn folders_of_pages_count_too() {
    let thirteen: Vec<String> = (0..13).map(|n| format!("web/fan/p{n}.js")).collect();
    let mut paths: Vec<&str> = thirteen.iter().map(String::as_str).collect();
    paths.push("web/admin/a.js");
    folders(
        &paths,
        &[
            "web/admin:1: one entry: put it beside the folder",
            "web/fan:1: 13 entries, at most 12: group them by room",
        ],
    );
}

#[test]
fn folders_of_browser_tests_count_too() {
    let thirteen: Vec<String> = (0..13).map(|n| format!("tests/browser/r{n}.test.mjs")).collect();
    let mut paths: Vec<&str> = thirteen.iter().map(String::as_str).collect();
    paths.extend(["tests/browser/tickets/gate.test.mjs", "tests/browser/package.json"]);
    folders(
        &paths,
        &[
            "tests/browser:1: 14 entries, at most 12: group them by room",
            "tests/browser/tickets:1: one entry: put it beside the folder",
        ],
    );
}
