//! Size, name and first line of a file.

use crate::tidy::{File, Violation};
use std::path::Path;

/// A longer file has more than one subject.
const LINES_MAX: usize = 500;

const MEASURED: [&str; 4] = ["rs", "js", "css", "sql"];

/// Names that say nothing about what is inside.
const VAGUE: [&str; 6] = ["util", "utils", "common", "helper", "helpers", "misc"];

pub(super) fn check(file: &File) -> Vec<Violation> {
    [size(file), name(file), first_line(file)].into_iter().flatten().collect()
}

fn size(file: &File) -> Option<Violation> {
    let n_lines = file.text.lines().count();
    let is_long = MEASURED.contains(&file.extension()) && LINES_MAX < n_lines;
    is_long.then(|| {
        let what = format!("{n_lines} lines, at most {LINES_MAX}: split it by noun");
        file.violation(LINES_MAX + 1, what)
    })
}

fn name(file: &File) -> Option<Violation> {
    if !MEASURED.contains(&file.extension()) {
        return None;
    }
    if file.path.ends_with("/mod.rs") {
        return Some(file.violation(1, "call it after its folder, beside it, instead of `mod.rs`"));
    }
    let stem = Path::new(&file.path).file_stem()?.to_str()?;
    VAGUE.contains(&stem).then(|| file.violation(1, "name the file after what it is about"))
}

fn first_line(file: &File) -> Option<Violation> {
    let is_missing = wants_purpose(&file.path) && !file.text.starts_with("//! ");
    is_missing.then(|| file.violation(1, "start with a `//!` line that says what it is for"))
}

/// Modules say what they are for; test parts are about the module they lie under.
fn wants_purpose(path: &str) -> bool {
    let is_module = path.contains("/src/") && path.ends_with(".rs");
    let is_test_part = path.ends_with("/tests.rs") || path.contains("/tests/");
    is_module && !is_test_part && !path.ends_with("/main.rs")
}

#[cfg(test)]
fn files(path: &str, text: &str, printed: &[&str]) {
    crate::tidy::expect(check, path, text, printed);
}

#[test]
fn a_file_has_at_most_five_hundred_lines() {
    files("web/fan/a.js", &"x\n".repeat(500), &[]);
    files("docs/long.md", &"x\n".repeat(501), &[]);
    files(
        "web/fan/a.js",
        &"x\n".repeat(501),
        &["web/fan/a.js:501: 501 lines, at most 500: split it by noun"],
    );
}

#[test]
fn a_file_is_named_after_its_subject() {
    files("crates/podo-app/src/holds.rs", "//! Holds.\n", &[]);
    files(
        "crates/podo-app/src/holds/mod.rs",
        "//! Holds.\n",
        &[
            "crates/podo-app/src/holds/mod.rs:1: call it after its folder, beside it, instead of `mod.rs`",
        ],
    );
    files(
        "web/shared/utils.js",
        "",
        &["web/shared/utils.js:1: name the file after what it is about"],
    );
}

#[test]
fn a_module_says_what_it_is_for() {
    for free in
        ["crates/podo-app/src/holds/tests.rs", "crates/podo-app/src/tests/a.rs", "src/main.rs"]
    {
        files(free, "use super::*;\n", &[]);
    }
    files("crates/podo-app/tests/it/main.rs", "mod a;\n", &[]);
    files(
        "crates/podo-app/src/holds.rs",
        "use std::fmt;\n",
        &["crates/podo-app/src/holds.rs:1: start with a `//!` line that says what it is for"],
    );
}
