//! The bill of materials: every crate in the program with version, licence and checksum, as CycloneDX
//! 1.6 in JSON, made from `cargo metadata` and Cargo.lock.

use super::Release;
use crate::shell::{command, read, root};
use anyhow::Context;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// JavaScript that is embedded in the program (web/vendor/README.md).
const EMBEDDED: [(&str, &str, &str); 1] = [("qr", "0.7.0", "MIT OR Apache-2.0")];

pub(super) fn make(release: &Release) -> anyhow::Result<String> {
    let mut metadata = command("cargo", &["metadata", "--locked", "--format-version", "1"]);
    metadata.args(["--filter-platform", &release.target, "--features", "kafka-tls"]);
    metadata.args(["--manifest-path", "crates/podo/Cargo.toml"]);
    let metadata: Value = serde_json::from_str(&read(&mut metadata)?)?;
    let lock = std::fs::read_to_string(root().join("Cargo.lock")).context("Cargo.lock")?;
    let document = document(&metadata, &checksums(&lock))?;
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

/// The checksum of each crate of a registry, by name and version.
fn checksums(lock: &str) -> BTreeMap<(&str, &str), &str> {
    let field = |package: &'_ str, name: &str| {
        let start = package.find(&format!("\n{name} = \""))? + name.len() + 5;
        let length = package[start..].find('"')?;
        Some((start, start + length))
    };
    let packages = lock.split("[[package]]").filter_map(|package| {
        let text = |name| field(package, name).map(|(start, end)| &package[start..end]);
        Some(((text("name")?, text("version")?), text("checksum")?))
    });
    packages.collect()
}

fn document(metadata: &Value, sums: &BTreeMap<(&str, &str), &str>) -> anyhow::Result<Value> {
    let graph = Graph::read(metadata)?;
    let packages = metadata["packages"].as_array().context("no packages")?;
    let podo = packages.iter().find(|it| it["name"] == "podo").context("no package `podo`")?;
    let podo_id = podo["id"].as_str().context("no id")?;
    let inside = graph.reachable(podo_id);
    let mut components = Vec::new();
    let mut references: BTreeMap<&str, String> = BTreeMap::new();
    for package in packages {
        let id = package["id"].as_str().context("no id")?;
        if inside.contains(id) {
            references.insert(id, reference(package));
        }
        if inside.contains(id) && id != podo_id {
            components.push(component(package, "library", sums));
        }
    }
    components.extend(EMBEDDED.map(|(name, version, licence)| {
        let reference = format!("pkg:npm/{name}@{version}");
        json!({ "type": "library", "bom-ref": reference, "name": name, "version": version,
                "purl": reference, "licenses": [{ "expression": licence }] })
    }));
    let dependencies: Vec<Value> = references
        .iter()
        .map(|(id, reference)| {
            let uses = graph.uses(id).filter_map(|other| references.get(other));
            json!({ "ref": reference, "dependsOn": uses.collect::<BTreeSet<_>>() })
        })
        .collect();
    Ok(json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": { "component": component(podo, "application", sums) },
        "components": components,
        "dependencies": dependencies,
    }))
}

fn component(package: &Value, kind: &str, sums: &BTreeMap<(&str, &str), &str>) -> Value {
    let (name, version) = (&package["name"], &package["version"]);
    let mut component = json!({
        "type": kind, "bom-ref": reference(package), "name": name, "version": version,
        "purl": reference(package),
    });
    if let Some(licence) = package["license"].as_str() {
        component["licenses"] = json!([{ "expression": expression(licence) }]);
    }
    let key = (name.as_str().unwrap_or_default(), version.as_str().unwrap_or_default());
    if let Some(sum) = sums.get(&key) {
        component["hashes"] = json!([{ "alg": "SHA-256", "content": sum }]);
    }
    component
}

fn reference(package: &Value) -> String {
    let text = |name: &str| package[name].as_str().unwrap_or_default().to_owned();
    format!("pkg:cargo/{}@{}", text("name"), text("version"))
}

/// Old crates write `/` where SPDX has `OR`.
fn expression(licence: &str) -> String {
    licence.split('/').map(str::trim).collect::<Vec<_>>().join(" OR ")
}

/// Which crate uses which in what is shipped: neither for its tests nor in its build script.
struct Graph<'a> {
    uses: BTreeMap<&'a str, BTreeSet<&'a str>>,
}

impl<'a> Graph<'a> {
    fn read(metadata: &'a Value) -> anyhow::Result<Graph<'a>> {
        let nodes = metadata["resolve"]["nodes"].as_array().context("no resolved packages")?;
        let uses = nodes.iter().map(|node| {
            let dependencies = node["deps"].as_array().into_iter().flatten();
            let shipped = dependencies.filter(|dependency| is_shipped(dependency));
            let uses = shipped.filter_map(|dependency| dependency["pkg"].as_str()).collect();
            Ok((node["id"].as_str().context("no id")?, uses))
        });
        Ok(Graph { uses: uses.collect::<anyhow::Result<_>>()? })
    }

    fn uses(&self, id: &str) -> impl Iterator<Item = &'a str> {
        self.uses.get(id).into_iter().flatten().copied()
    }

    fn reachable(&self, from: &'a str) -> BTreeSet<&'a str> {
        let (mut found, mut open) = (BTreeSet::from([from]), vec![from]);
        while let Some(id) = open.pop() {
            let new: Vec<&str> = self.uses(id).filter(|other| found.insert(other)).collect();
            open.extend(new);
        }
        found
    }
}

fn is_shipped(dependency: &Value) -> bool {
    let kinds = dependency["dep_kinds"].as_array().into_iter().flatten();
    kinds.into_iter().any(|kind| kind["kind"].is_null())
}

#[test]
fn the_document_lists_what_is_shipped_and_nothing_else() {
    let package =
        |name: &str| json!({ "id": name, "name": name, "version": "1.0.0", "license": "MIT/0BSD" });
    let uses = |name: &str, kind: Value| json!({ "pkg": name, "dep_kinds": [{ "kind": kind }] });
    let packages = ["podo", "serde", "itoa", "cc", "proptest"].map(package);
    let metadata = json!({
        "packages": packages,
        "resolve": { "nodes": [
            { "id": "podo", "deps": [uses("serde", Value::Null), uses("proptest", json!("dev"))] },
            { "id": "serde", "deps": [uses("itoa", Value::Null), uses("cc", json!("build"))] },
            { "id": "itoa", "deps": [] }, { "id": "cc", "deps": [] },
            { "id": "proptest", "deps": [uses("itoa", Value::Null)] },
        ] },
    });
    let lock =
        "[[package]]\nname = \"itoa\"\nversion = \"1.0.0\"\nsource = \"r\"\nchecksum = \"ab\"\n";
    let document = document(&metadata, &checksums(lock)).unwrap();
    let components = document["components"].as_array().unwrap();
    let names: Vec<&str> = components.iter().filter_map(|it| it["purl"].as_str()).collect();
    assert_eq!(names, ["pkg:cargo/serde@1.0.0", "pkg:cargo/itoa@1.0.0", "pkg:npm/qr@0.7.0"]);
    assert_eq!(components[0]["licenses"][0]["expression"], "MIT OR 0BSD");
    assert!(components[0]["hashes"].is_null(), "serde is not in that lock file");
    assert_eq!(components[1]["hashes"][0]["content"], "ab");
    let podo = json!({ "ref": "pkg:cargo/podo@1.0.0", "dependsOn": ["pkg:cargo/serde@1.0.0"] });
    assert!(document["dependencies"].as_array().unwrap().contains(&podo), "{document}");
}

#[test]
fn embedded_scripts_are_those_of_the_vendor_folder() {
    let page = std::fs::read_to_string(root().join("web/vendor/README.md")).unwrap();
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    let rows: Vec<Vec<&str>> = rows
        .map(|row| row.split('|').map(|cell| cell.trim_matches([' ', '`', '/'])).collect())
        .collect();
    let listed: Vec<_> = rows.iter().map(|row| (row[1], row[3], row[4])).collect();
    assert_eq!(listed, EMBEDDED);
}
