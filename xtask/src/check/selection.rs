//! Which packages a change concerns: those with changed files, and all that depend on them.

use crate::shell::{command, read, root};
use anyhow::Context;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

/// Files that decide how everything is built or tested.
const FOR_ALL: [&str; 6] =
    ["Cargo.toml", "Cargo.lock", "clippy.toml", "rust-toolchain.toml", ".cargo/", ".config/"];

/// Folders outside the packages whose files are embedded or read by a package's tests.
const READ_BY: [(&str, &str); 4] =
    [("web/", "podo"), ("deploy/", "podo"), ("docs/", "podo"), ("docs/", "xtask")];

/// A package of the workspace.
pub(super) struct Package {
    name: String,
    /// Relative to the root, with a `/` at the end.
    folder: String,
    /// Everything that it depends on, for its tests too.
    uses: Vec<String>,
}

impl Package {
    pub(super) fn of_workspace() -> anyhow::Result<Vec<Package>> {
        let metadata = ["metadata", "--no-deps", "--format-version", "1"];
        let metadata: Value = serde_json::from_str(&read(&mut command("cargo", &metadata))?)?;
        let packages = metadata["packages"].as_array().context("cargo names no packages")?;
        packages.iter().map(Package::from_metadata).collect()
    }

    fn from_metadata(package: &Value) -> anyhow::Result<Package> {
        let manifest = package["manifest_path"].as_str().context("a package has no manifest")?;
        let folder = Path::new(manifest).parent().context("a manifest lies in a folder")?;
        let folder = folder.strip_prefix(root()).context("a package lies below the root")?;
        let dependencies = package["dependencies"].as_array().into_iter().flatten();
        Ok(Package {
            name: text(&package["name"]),
            folder: format!("{}/", folder.display()),
            uses: dependencies.map(|dependency| text(&dependency["name"])).collect(),
        })
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

pub(super) fn select<'a>(changed: &[String], packages: &'a [Package]) -> BTreeSet<&'a str> {
    let is_changed = |package: &&Package| changed.iter().any(|file| concerns(file, package));
    let mut selected: BTreeSet<&str> =
        packages.iter().filter(is_changed).map(|package| package.name.as_str()).collect();
    loop {
        let uses_one =
            |package: &&Package| package.uses.iter().any(|name| selected.contains(name.as_str()));
        let dependents: Vec<&str> =
            packages.iter().filter(uses_one).map(|package| package.name.as_str()).collect();
        let n_before = selected.len();
        selected.extend(dependents);
        if selected.len() == n_before {
            return selected;
        }
    }
}

fn concerns(file: &str, package: &Package) -> bool {
    let is_for_all = FOR_ALL.iter().any(|it| match it.ends_with('/') {
        true => file.starts_with(it),
        false => file == *it,
    });
    let is_read =
        READ_BY.iter().any(|(folder, reader)| file.starts_with(folder) && *reader == package.name);
    is_for_all || is_read || file.starts_with(&package.folder)
}

#[cfg(test)]
fn selected(changed: &[&str]) -> String {
    let package = |name: &str, uses: &[&str]| Package {
        name: name.to_owned(),
        folder: if name == "xtask" { "xtask/".to_owned() } else { format!("crates/{name}/") },
        uses: uses.iter().map(|name| (*name).to_owned()).collect(),
    };
    let packages = [
        package("podo", &["podo-app", "podo-domain", "podo-testbed"]),
        package("podo-app", &["podo-domain", "podo-app"]),
        package("podo-domain", &["serde"]),
        package("podo-testbed", &[]),
        package("xtask", &["podo-testbed"]),
    ];
    let changed: Vec<String> = changed.iter().map(|file| (*file).to_owned()).collect();
    select(&changed, &packages).into_iter().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_change_selects_its_package_and_all_that_depend_on_it() {
    assert_eq!(selected(&["crates/podo/src/main.rs"]), "podo");
    assert_eq!(selected(&["crates/podo-domain/src/money.rs"]), "podo podo-app podo-domain");
    assert_eq!(selected(&["crates/podo-testbed/src/lib.rs"]), "podo podo-testbed xtask");
    assert_eq!(selected(&["xtask/src/main.rs"]), "xtask");
}

#[test]
fn a_package_is_not_taken_for_another_whose_name_begins_alike() {
    assert_eq!(selected(&["crates/podo-app/src/lib.rs"]), "podo podo-app");
    assert_eq!(selected(&["crates/podo-apple/src/lib.rs"]), "");
}

#[test]
fn files_of_the_workspace_concern_every_package() {
    let all = "podo podo-app podo-domain podo-testbed xtask";
    for file in ["Cargo.toml", "Cargo.lock", ".config/nextest.toml", ".cargo/config.toml"] {
        assert_eq!(selected(&[file]), all, "{file}");
    }
    assert_eq!(selected(&["web/Cargo.toml.txt"]), "podo");
}

#[test]
fn pages_documents_and_deployments_concern_the_packages_that_read_them() {
    assert_eq!(selected(&["web/fan/app.js"]), "podo");
    assert_eq!(selected(&["deploy/nginx/nginx.conf"]), "podo");
    assert_eq!(selected(&["docs/operations.md"]), "podo xtask");
    assert_eq!(selected(&["README.md", "examples/curl.sh", "tests/browser/a.mjs"]), "");
    assert_eq!(selected(&[]), "");
}

#[test]
fn the_packages_of_this_workspace_are_found() {
    let packages = Package::of_workspace().unwrap();
    let domain = select(&["crates/podo-domain/src/lib.rs".to_owned()], &packages);
    assert!(domain.contains("podo") && domain.contains("podo-sim"), "{domain:?}");
    assert!(!domain.contains("podo-testbed"), "{domain:?}");
}
