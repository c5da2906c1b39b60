//! `cargo xtask tidy`: the rules for the shape of the tree, checked file by file.

mod catalogues;
mod files;
mod folders;
mod layers;
mod manifest;
mod reference;
mod retired;
mod schemas;
mod words;

use crate::shell::root;
use anyhow::{Context, bail};
use std::fmt;
use std::path::Path;

/// Folders that hold nothing we wrote.
const SKIPPED: [&str; 4] = ["target", "podo-data", "node_modules", "vendor"];

/// A file of the tree, its path relative to the root and with `/` between the parts.
struct File {
    path: String,
    text: String,
}

/// One broken rule: where, what, and what to do about it.
#[derive(Debug, PartialEq, Eq)]
struct Violation {
    path: String,
    line: usize,
    what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.what)
    }
}

impl File {
    fn violation(&self, line: usize, what: impl Into<String>) -> Violation {
        Violation { path: self.path.clone(), line, what: what.into() }
    }

    fn extension(&self) -> &str {
        Path::new(&self.path).extension().and_then(|it| it.to_str()).unwrap_or_default()
    }
}

pub(crate) fn check_tree() -> anyhow::Result<()> {
    let mut files = Vec::new();
    collect(root(), "", &mut files)?;
    files.sort_by(|a, b| a.path.cmp(&b.path));
    let violations = check(&files);
    for violation in &violations {
        println!("{violation}");
    }
    if !violations.is_empty() {
        bail!("the tree is not tidy: {} places to mend, listed above", violations.len());
    }
    println!("{} files are tidy", files.len());
    Ok(())
}

fn check(files: &[File]) -> Vec<Violation> {
    let manifests = files.iter().filter(|file| file.path.ends_with("Cargo.toml"));
    let mut violations: Vec<Violation> = manifests.flat_map(layers::check).collect();
    violations.extend(catalogues::check(files));
    violations.extend(folders::check(files));
    violations.extend(reference::check(files));
    violations.extend(schemas::check(files));
    for file in files {
        violations.extend(files::check(file));
        violations.extend(retired::check(file));
        violations.extend(words::check(file));
    }
    violations
}

/// Reads every text file below `folder`; hidden folders, built and foreign files are left out.
fn collect(folder: &Path, prefix: &str, files: &mut Vec<File>) -> anyhow::Result<()> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("{prefix} is not readable"))?;
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        if name.starts_with('.') || SKIPPED.contains(&name.as_str()) {
            continue;
        }
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), &format!("{path}/"), files)?;
        } else if let Ok(text) = std::fs::read_to_string(entry.path()) {
            files.push(File { path, text });
        }
    }
    Ok(())
}

#[cfg(test)]
fn file(path: &str, text: &str) -> File {
    File { path: path.to_owned(), text: text.to_owned() }
}

/// Checks one file with one rule and compares what is printed.
#[cfg(test)]
fn expect(rule: fn(&File) -> Vec<Violation>, path: &str, text: &str, printed: &[&str]) {
    let found = rule(&file(path, text));
    assert_eq!(found.iter().map(Violation::to_string).collect::<Vec<_>>(), printed, "{path}");
}

#[test]
fn every_rule_is_asked_about_every_file() {
    let files = [
        file("crates/podo-domain/Cargo.toml", "[dependencies]\ntokio = \"1\"\n"),
        file("crates/podo-domain/src/mod.rs", "//! Rules.\n"),
        file("web/fan/app.js", "// Pages.\n"),
        file("web/fan/index.html", "<p style=\"color:red\">\n"),
    ];
    assert_eq!(check(&files).len(), 3);
}
