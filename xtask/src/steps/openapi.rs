//! The stored OpenAPI document: `docs/openapi.json` is what the code says.

use crate::podo;
use crate::shell::{command, read, root};
use anyhow::{Context, bail};
use std::process::Command;

const STORED: &str = "docs/openapi.json";

/// Fails when the stored document is not the one that the code gives.
pub(crate) fn check() -> anyhow::Result<()> {
    let stored = std::fs::read_to_string(root().join(STORED))
        .with_context(|| format!("{STORED} cannot be read; run `cargo xtask openapi`"))?;
    let mut podo = Command::new(podo::build()?);
    podo.arg("openapi");
    match first_difference(&stored, &generate(podo)?) {
        None => Ok(()),
        Some(line) => bail!("{STORED}:{line}: is out of date; run `cargo xtask openapi`"),
    }
}

pub(crate) fn rewrite() -> anyhow::Result<()> {
    let path = root().join(STORED);
    std::fs::create_dir_all(root().join("docs")).context("the folder `docs` cannot be made")?;
    // Only the program: the tests need not compile yet.
    let run = ["run", "--quiet", "-p", "podo", "--features", "kafka-tls", "--", "openapi"];
    let podo = command("cargo", &run);
    std::fs::write(&path, generate(podo)?)
        .with_context(|| format!("{STORED} cannot be written"))?;
    println!("wrote {STORED}");
    Ok(())
}

fn generate(mut podo: Command) -> anyhow::Result<String> {
    let document = read(&mut podo)?;
    if !document.starts_with('{') {
        bail!("`podo openapi` did not print a JSON document");
    }
    Ok(document)
}

/// The number of the first line that differs.
fn first_difference(stored: &str, fresh: &str) -> Option<usize> {
    if stored == fresh {
        return None;
    }
    let n_same = stored.lines().zip(fresh.lines()).take_while(|(a, b)| a == b).count();
    Some(n_same + 1)
}

#[test]
fn a_stale_document_is_found_with_its_line() {
    assert_eq!(first_difference("{\n}\n", "{\n}\n"), None);
    assert_eq!(first_difference("{\n 1\n}\n", "{\n 2\n}\n"), Some(2));
    assert_eq!(first_difference("{\n", "{\n}\n"), Some(2));
}
