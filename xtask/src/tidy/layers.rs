//! Which crate may use which: `podo-domain ← podo-app ← podo-adapters ← podo`, the tools at the side.

use crate::tidy::manifest::{Dependency, Kind, dependencies};
use crate::tidy::{File, Violation};

struct Layer {
    name: &'static str,
    /// The crates of ours that it may use.
    uses: &'static [&'static str],
    /// The crates of others that it may use, if it may not use all.
    externals: Option<&'static [&'static str]>,
    /// Whether its tests may use any crate of ours.
    tests_are_free: bool,
}

/// The rules stay pure: none of these crates reads a file, a socket, a clock or a die.
const DOMAIN_EXTERNALS: &[&str] =
    &["jiff", "serde", "sha2", "thiserror", "unicode-normalization", "utoipa", "uuid"];

const LAYERS: &[Layer] = &[
    Layer {
        name: "podo-domain",
        uses: &[],
        externals: Some(DOMAIN_EXTERNALS),
        tests_are_free: false,
    },
    Layer { name: "podo-app", uses: &["podo-domain"], externals: None, tests_are_free: true },
    Layer {
        name: "podo-adapters",
        uses: &["podo-app", "podo-domain"],
        externals: None,
        tests_are_free: true,
    },
    Layer {
        name: "podo",
        uses: &["podo-adapters", "podo-app", "podo-domain", "podo-load"],
        externals: None,
        tests_are_free: true,
    },
    Layer { name: "podo-load", uses: &["podo-domain"], externals: None, tests_are_free: true },
    Layer {
        name: "podo-sim",
        uses: &["podo-adapters", "podo-app", "podo-domain", "podo-testbed"],
        externals: None,
        tests_are_free: true,
    },
    Layer { name: "podo-testbed", uses: &[], externals: None, tests_are_free: true },
];

pub(super) fn check(manifest: &File) -> Vec<Violation> {
    let Some(name) = crate_of(&manifest.path) else { return Vec::new() };
    let Some(layer) = LAYERS.iter().find(|layer| layer.name == name) else {
        let what = format!("say in xtask/src/tidy/layers.rs which crates `{name}` may use");
        return vec![manifest.violation(1, what)];
    };
    let named = dependencies(&manifest.text);
    let broken = named.iter().filter_map(|it| Some((it.line, complaint(layer, it)?)));
    broken.map(|(line, what)| manifest.violation(line, what)).collect()
}

/// `podo-app` for `crates/podo-app/Cargo.toml`.
fn crate_of(path: &str) -> Option<&str> {
    path.strip_prefix("crates/")?.strip_suffix("/Cargo.toml")
}

fn complaint(layer: &Layer, dependency: &Dependency) -> Option<String> {
    let (from, to) = (layer.name, dependency.name.as_str());
    let is_ours = LAYERS.iter().any(|layer| layer.name == to);
    let is_test = dependency.kind == Kind::Dev;
    if is_ours {
        let is_allowed = layer.uses.contains(&to) || (is_test && layer.tests_are_free);
        let may = if layer.uses.is_empty() { "none of ours".into() } else { layer.uses.join(", ") };
        return (!is_allowed).then(|| {
            format!("`{from}` must not use `{to}`; it may use {may}: move the code to its layer")
        });
    }
    let externals = layer.externals.filter(|_| !is_test)?;
    (!externals.contains(&to)).then(|| {
        format!("`{from}` must not use `{to}`; keep it pure and do this in `podo-app` or `podo-adapters`")
    })
}

#[cfg(test)]
fn layers(name: &str, text: &str, printed: &[&str]) {
    crate::tidy::expect(check, &format!("crates/{name}/Cargo.toml"), text, printed);
}

#[test]
fn the_arrow_between_layers_points_one_way() {
    layers("podo-app", "[dependencies]\npodo-domain.workspace = true\n", &[]);
    layers("podo", "[dependencies]\npodo-load.workspace = true\n", &[]);
    layers(
        "podo-app",
        "[dependencies]\npodo-adapters.workspace = true\n",
        &[
            "crates/podo-app/Cargo.toml:2: `podo-app` must not use `podo-adapters`; it may use podo-domain: move the code \
         to its layer",
        ],
    );
    layers(
        "podo-testbed",
        "[dependencies]\npodo-domain.workspace = true\n",
        &[
            "crates/podo-testbed/Cargo.toml:2: `podo-testbed` must not use `podo-domain`; it may use none of ours: \
         move the code to its layer",
        ],
    );
}

#[test]
fn tests_may_use_any_crate_except_in_the_domain() {
    layers("podo", "[dev-dependencies]\npodo-testbed.workspace = true\n", &[]);
    layers("podo-domain", "[dev-dependencies]\nproptest.workspace = true\n", &[]);
    layers(
        "podo-domain",
        "[dev-dependencies]\npodo-testbed.workspace = true\n",
        &[
            "crates/podo-domain/Cargo.toml:2: `podo-domain` must not use `podo-testbed`; it may use none of ours: \
         move the code to its layer",
        ],
    );
}

#[test]
fn nothing_that_does_io_enters_the_domain() {
    layers("podo-domain", "[dependencies]\njiff.workspace = true\n", &[]);
    layers(
        "podo-domain",
        "[dependencies]\ntokio.workspace = true\n",
        &[
            "crates/podo-domain/Cargo.toml:2: `podo-domain` must not use `tokio`; keep it pure and do this in \
         `podo-app` or `podo-adapters`",
        ],
    );
}

#[test]
fn a_new_crate_needs_a_place_among_the_layers() {
    layers(
        "extra",
        "",
        &[
            "crates/extra/Cargo.toml:1: say in xtask/src/tidy/layers.rs which crates `extra` may use",
        ],
    );
    crate::tidy::expect(check, "Cargo.toml", "[dependencies]\ntokio = \"1\"\n", &[]);
}
