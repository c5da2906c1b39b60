//! Two types of one name overwrite each other in the OpenAPI document without a word.

use crate::tidy::{File, Violation};
use std::collections::BTreeMap;

const DERIVE: &str = "ToSchema";

pub(super) fn check(files: &[File]) -> Vec<Violation> {
    let mut first: BTreeMap<&str, &File> = BTreeMap::new();
    let mut violations = Vec::new();
    let sources = files.iter().filter(|file| file.extension() == "rs");
    for (file, (line, name)) in sources.flat_map(|file| schemas(file).map(move |it| (file, it))) {
        match first.get(name) {
            Some(other) => violations.push(file.violation(
                line,
                format!("the schema `{name}` is in {} too: give it a name of its own", other.path),
            )),
            None => {
                first.insert(name, file);
            }
        }
    }
    violations
}

/// The types that derive a schema, with their lines.
fn schemas(file: &File) -> impl Iterator<Item = (usize, &str)> {
    let mut is_derived = false;
    file.text.lines().enumerate().filter_map(move |(index, line)| {
        let line = line.trim_start();
        if line.starts_with("#[") {
            is_derived |= line.contains("derive(") && line.contains(DERIVE);
            return None;
        }
        let name = declared(line)?;
        std::mem::take(&mut is_derived).then_some((index + 1, name))
    })
}

/// The name of the type that a line declares.
fn declared(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once("struct ").or_else(|| line.split_once("enum "))?;
    rest.split(|letter: char| !letter.is_alphanumeric()).next().filter(|name| !name.is_empty())
}

#[test]
fn two_schemas_of_one_name_are_found() {
    let derived = "#[derive(Serialize, ToSchema)]\n#[serde(rename_all = \"camelCase\")]\n";
    let one = crate::tidy::file("a.rs", &format!("{derived}pub struct Body {{\n"));
    let other = crate::tidy::file("b.rs", &format!("{derived}pub(super) struct Body<T> {{\n"));
    let plain = crate::tidy::file("c.rs", "#[derive(Debug)]\nstruct Body {\n");
    let found = check(&[one, other, plain]);
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].path.as_str(), found[0].line), ("b.rs", 3));
}
