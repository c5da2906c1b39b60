//! Just enough TOML to read which dependencies a `Cargo.toml` names.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Normal,
    Dev,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Dependency {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) line: usize,
}

/// What a header such as `[dependencies]` or `[dependencies.serde]` opens.
enum Section {
    Other,
    List(Kind),
    One(Dependency),
}

pub(super) fn dependencies(text: &str) -> Vec<Dependency> {
    let mut found = Vec::new();
    let mut kind = None;
    // How many brackets of a value that spans lines are still open.
    let mut depth = 0;
    for (index, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        let is_header = depth == 0 && line.starts_with('[');
        if is_header {
            kind = None;
            match section(line, index + 1) {
                Section::Other => {}
                Section::List(of) => kind = Some(of),
                Section::One(dependency) => found.push(dependency),
            }
            continue;
        }
        if let Some(kind) = kind.filter(|_| depth == 0 && line.contains('=')) {
            found.push(Dependency { name: crate_name(line), kind, line: index + 1 });
        }
        depth += bracket_balance(line);
    }
    found
}

fn section(header: &str, line: usize) -> Section {
    let path = header.trim_matches(['[', ']']).replace('"', "");
    // `[target.'cfg(unix)'.dependencies]` says the same as `[dependencies]`.
    let path = path.rsplit("'.").next().unwrap_or_default();
    let (table, name) = path.split_once('.').unwrap_or((path, ""));
    let kind = match table {
        "dependencies" | "build-dependencies" => Kind::Normal,
        "dev-dependencies" => Kind::Dev,
        _ => return Section::Other,
    };
    match name {
        "" => Section::List(kind),
        name => Section::One(Dependency { name: name.to_owned(), kind, line }),
    }
}

/// The crate behind a line such as `a = "1"`, `a.workspace = true`, `b = { package = "a" }`.
fn crate_name(line: &str) -> String {
    let (key, value) = line.split_once('=').unwrap_or((line, ""));
    let renamed = value.split_once("package").and_then(|(_, rest)| rest.split('"').nth(1));
    let key = key.trim().split('.').next().unwrap_or_default();
    renamed.unwrap_or(key).trim_matches('"').to_owned()
}

fn bracket_balance(line: &str) -> i32 {
    line.chars().fold(0, |depth, it| match it {
        '[' | '{' => depth + 1,
        ']' | '}' => depth - 1,
        _ => depth,
    })
}

#[cfg(test)]
fn check(text: &str, expected: &[(&str, Kind, usize)]) {
    let found = dependencies(text);
    let found: Vec<_> = found.iter().map(|it| (it.name.as_str(), it.kind, it.line)).collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn every_way_to_name_a_dependency_is_read() {
    check("[dependencies]\nserde = \"1\" # why\n", &[("serde", Kind::Normal, 2)]);
    check("[dependencies]\nserde.workspace = true\n", &[("serde", Kind::Normal, 2)]);
    check("[dependencies]\nold = { package = \"new\" }\n", &[("new", Kind::Normal, 2)]);
    check("[dependencies.serde]\nversion = \"1\"\n", &[("serde", Kind::Normal, 1)]);
    check("[build-dependencies]\ncc = \"1\"\n", &[("cc", Kind::Normal, 2)]);
    check("[target.'cfg(unix)'.dependencies]\nlibc = \"1\"\n", &[("libc", Kind::Normal, 2)]);
    check("[dev-dependencies]\ninsta = \"1\"\n", &[("insta", Kind::Dev, 2)]);
}

#[test]
fn other_tables_and_long_values_are_passed_over() {
    check("[package]\nname = \"a\"\n[features]\nb = [\"dep:c\"]\n", &[]);
    let long = "[dependencies]\na = { features = [\n  \"x = y\",\n] }\nb = \"1\"\n";
    check(long, &[("a", Kind::Normal, 2), ("b", Kind::Normal, 5)]);
}
