//! `cargo xtask configuration`: docs/configuration.md, made from the manual that the program carries
//! and reads its defaults from.

use crate::shell::root;
use anyhow::Context;

pub(crate) const MANUAL: &str = "crates/podo/src/config.default.toml";
pub(crate) const STORED: &str = "docs/configuration.md";

const HEAD: &str = "\
# Settings

Made from `crates/podo/src/config.default.toml` by `cargo xtask configuration`; \
`podo check-config --manual` prints the same as a file to copy from.
";

pub(crate) fn rewrite() -> anyhow::Result<()> {
    let manual = std::fs::read_to_string(root().join(MANUAL))
        .with_context(|| format!("{MANUAL} cannot be read"))?;
    std::fs::write(root().join(STORED), describe(&manual))
        .with_context(|| format!("{STORED} cannot be written"))?;
    println!("wrote {STORED}");
    Ok(())
}

/// The reference: each paragraph of the manual, and below it the settings that it is about.
pub(crate) fn describe(manual: &str) -> String {
    let mut text = HEAD.to_owned();
    for paragraph in manual.split("\n\n") {
        let is_setting = |line: &&str| !line.starts_with('#') && line.contains(" = ");
        let settings: Vec<&str> = paragraph.lines().filter(is_setting).collect();
        let words: Vec<&str> =
            paragraph.lines().filter_map(|line| line.strip_prefix('#')).map(str::trim).collect();
        if words.iter().any(|line| line.starts_with("Podo's settings")) {
            text += &format!("\n{}\n", prose(&words[1..]));
            continue;
        }
        if let Some(first) = settings.first() {
            text += &format!("\n## {}\n", name_of(first));
        }
        text += &format!("\n{}\n", prose(&words));
        if !settings.is_empty() {
            text += "\n| setting | variable | default |\n|---|---|---|\n";
            text += &settings.iter().map(|line| row(line)).collect::<String>();
        }
    }
    text
}

/// One paragraph; an empty comment line ends it.
fn prose(words: &[&str]) -> String {
    let parts = words.split(|line| line.is_empty());
    let parts = parts.filter(|part| !part.is_empty()).map(|part| part.join(" "));
    parts.collect::<Vec<_>>().join("\n\n").replace('<', "&lt;").replace('|', "\\|")
}

fn name_of(setting: &str) -> &str {
    setting.split(" = ").next().unwrap_or_default()
}

fn row(setting: &str) -> String {
    let (name, default) = setting.split_once(" = ").unwrap_or((setting, ""));
    format!("| `{name}` | `PODO_{}` | `{default}` |\n", name.to_uppercase())
}

#[test]
fn a_paragraph_stands_above_the_settings_that_it_is_about() {
    let manual = "# Podo's settings: all.\n#\n# Set PODO_<KEY>.\n\n# How long\n# a | b.\nx_ms = 5\ny = \"\"\n";
    let text = describe(manual);
    let expected = "\nSet PODO_&lt;KEY>.\n\n## x_ms\n\nHow long a \\| b.\n\n\
                    | setting | variable | default |\n|---|---|---|\n\
                    | `x_ms` | `PODO_X_MS` | `5` |\n| `y` | `PODO_Y` | `\"\"` |\n";
    assert_eq!(text.strip_prefix(HEAD).unwrap(), expected);
}
