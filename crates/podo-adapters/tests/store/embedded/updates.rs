//! Every statement that changes a row also sets its `updated_at`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const MIGRATION: &str = include_str!("../../../migrations/postgres/V1__podo.sql");

/// The tables with an `updated_at` column.
fn dated_tables() -> BTreeSet<&'static str> {
    let tables = MIGRATION.split("create table ").skip(1);
    let dated = tables.filter(|text| text.split(");").next().unwrap().contains("updated_at "));
    dated.map(|text| text.split_whitespace().next().unwrap()).collect()
}

pub(crate) fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let of = |path: PathBuf| if path.is_dir() { sources(&path) } else { vec![path] };
    entries.flat_map(of).filter(|path| path.extension().is_some_and(|it| it == "rs")).collect()
}

/// Each `update` in a text: its table and its assignments.
fn updates(text: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    for (start, _) in text.match_indices("\"update ") {
        let statement = text[start + 1..].split('"').next().unwrap();
        let table = statement.split_whitespace().nth(1).unwrap();
        found.push((table, statement.split(" where ").next().unwrap()));
    }
    for (start, _) in text.match_indices("do update") {
        let insert = text[..start].rfind("\"insert into ").unwrap();
        let table = text[insert..].split_whitespace().nth(2).unwrap();
        found.push((table, text[start..].split('"').next().unwrap()));
    }
    found
}

#[test]
fn every_update_of_a_dated_table_sets_its_date() {
    let tables = dated_tables();
    assert!(tables.contains("payments") && !tables.contains("seats"), "{tables:?}");
    let (mut seen, mut left_behind) = (BTreeSet::new(), Vec::new());
    for path in sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/sql")) {
        let text = std::fs::read_to_string(&path).unwrap();
        for (table, sets) in updates(&text) {
            seen.insert(table.to_owned());
            if tables.contains(table) && !sets.contains("updated_at = ") {
                left_behind.push(format!("{}: {sets}", path.display()));
            }
        }
    }
    assert!(seen.len() > 10 && seen.contains("sandbox_book"), "{seen:?}");
    assert!(left_behind.is_empty(), "{left_behind:#?}");
}

#[test]
fn a_forgotten_date_is_found() {
    let text = r#"let a = "update users set name = $1 where updated_at = $2"; "insert into wallets
        (id) values ($1) on conflict (id) do update set id = 1";"#;
    let found = updates(text);
    assert_eq!(found[0], ("users", "update users set name = $1"));
    assert_eq!(found[1], ("wallets", "do update set id = 1"));
}
