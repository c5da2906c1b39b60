//! Which tests of a package need no other program and end soon, and what that leaves out.

use std::collections::BTreeSet;

/// Unit tests that start PostgreSQL, Redis, Kafka, nginx or a built program.
const ENGINES: &str = "package(podo-testbed)";

/// Unit tests that compare an engine with its model, or play hundreds of seeds, for half a minute and
/// longer.
const LONG: &str = "(test(/::(machine|model)::/) + (package(podo-sim) & test(/^tests::every_/)))";

/// Tests of `it` that start processes, try every pair of faults, send random bytes, or wait for
/// deadlines.
const SLOW: &str = "test(/^process::|^payments::gateways::|\
     ::(cycles|rush|slowloris|slow_readers|held_connections|guessing|fuzz)::/)";

/// The targets that are built: linking the other suites would take longer than running these.
pub(super) fn targets(selected: &BTreeSet<&str>) -> Vec<&'static str> {
    let mut targets = vec!["--lib"];
    for (package, target) in [
        ("podo-adapters", ["--test", "store"]),
        ("podo", ["--test", "it"]),
        ("xtask", ["--bin", "xtask"]),
    ] {
        if selected.contains(package) {
            targets.extend(target);
        }
    }
    targets
}

/// The tests that are run, in nextest's language.
pub(super) fn filter(selected: &BTreeSet<&str>) -> String {
    let packages: Vec<String> = selected.iter().map(|name| format!("package(={name})")).collect();
    // `-` binds more tightly than `+`.
    let suites = format!("kind(lib) + kind(bin) + binary(store) + (binary(it) - {SLOW})");
    format!("({}) & ({suites}) - {LONG} - {ENGINES}", packages.join(" + "))
}

/// What `cargo xtask test` would run besides.
pub(super) fn left_out(selected: &BTreeSet<&str>) -> String {
    let mut suites = vec!["browser, generated clients, examples, packages, documents"];
    let of_packages = [
        (
            "podo-adapters",
            "podo-adapters: the suites on PostgreSQL, Redis and Kafka; long properties",
        ),
        ("podo", "podo: it_distributed, seeds, and the process and slow tests of `it`"),
        ("podo-sim", "podo-sim: the seeds, and the mutations that the checkers must notice"),
        ("podo-testbed", "podo-testbed: all tests, because they start engines"),
    ];
    let concerned = of_packages.iter().filter(|(package, _)| selected.contains(package));
    suites.extend(concerned.map(|(_, suites)| suites));
    let lines = suites.iter().map(|line| format!("\n  {line}"));
    format!("Left out; `cargo xtask test` runs it:{}", lines.collect::<String>())
}

#[cfg(test)]
fn selection(names: &[&'static str]) -> BTreeSet<&'static str> {
    names.iter().copied().collect()
}

#[test]
fn only_suites_of_selected_packages_are_built() {
    assert_eq!(targets(&selection(&["podo-domain"])), ["--lib"]);
    assert_eq!(
        targets(&selection(&["podo", "xtask"])),
        ["--lib", "--test", "it", "--bin", "xtask"]
    );
}

#[test]
fn the_filter_names_each_package_exactly() {
    let filter = filter(&selection(&["podo", "podo-app"]));
    assert!(filter.starts_with("(package(=podo) + package(=podo-app)) & (kind(lib) "), "{filter}");
}

#[test]
fn what_is_left_out_of_a_selected_package_is_named() {
    let only_rules = left_out(&selection(&["podo-domain"]));
    assert!(only_rules.contains("browser") && !only_rules.contains("PostgreSQL"), "{only_rules}");
    assert!(left_out(&selection(&["podo-adapters"])).contains("PostgreSQL"));
}
