//! Sources of settings: the settings file and the environment. Both still accept deprecated names.

use anyhow::{Context, Result, bail};
use std::path::Path;
use toml::{Table, Value};

/// Deprecated names of settings, and the names that replace them. If a source has both, the new
/// name counts.
const RENAMED: [(&str, &str); 1] = [("relay_bell", "relay_notify")];

/// Merges a settings file. Returns a warning for each deprecated name in it.
pub(super) fn merge_file(table: &mut Table, file: &Path) -> Result<Vec<String>> {
    let mut more = read(file)?;
    let warnings = rename(&mut more);
    for (key, value) in more {
        if !table.contains_key(&key) {
            let file = file.display();
            bail!("{file}: unknown setting `{key}`; `podo check-config --manual` lists all");
        }
        table.insert(key, value);
    }
    Ok(warnings)
}

/// `PODO_HOLD_SECONDS=2` sets `hold_seconds`. The value takes the default's type; lists are
/// comma-separated. Returns a warning for each deprecated name.
pub(super) fn merge_environment(
    table: &mut Table,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Vec<String>> {
    let mut warnings = Vec::new();
    for (key, value) in table.iter_mut() {
        let name = variable_of(key);
        let old = RENAMED.iter().find(|(_, new)| new == key).map(|(old, _)| variable_of(old));
        let old = old.and_then(|old| Some((variable(&old)?, old)));
        warnings.extend(old.iter().map(|(_, old)| warning(old, &name)));
        let given = variable(&name).map(|text| (text, name)).or(old);
        if let Some((text, name)) = given {
            *value = parse(text, &name, value)?;
        }
    }
    Ok(warnings)
}

fn read(file: &Path) -> Result<Table> {
    let text = std::fs::read_to_string(file)
        .with_context(|| format!("cannot read the settings file {}", file.display()))?;
    text.parse().with_context(|| format!("{} is not TOML", file.display()))
}

fn rename(table: &mut Table) -> Vec<String> {
    let mut warnings = Vec::new();
    for (old, new) in RENAMED {
        if let Some(value) = table.remove(old) {
            table.entry(new).or_insert(value);
            warnings.push(warning(old, new));
        }
    }
    warnings
}

fn warning(old: &str, new: &str) -> String {
    format!("The setting `{old}` is deprecated; rename it to `{new}`")
}

fn variable_of(key: &str) -> String {
    format!("PODO_{}", key.to_uppercase())
}

fn parse(text: String, name: &str, default: &Value) -> Result<Value> {
    Ok(if default.is_integer() {
        let number = text.parse().with_context(|| format!("{name}: `{text}` is not a number"))?;
        Value::Integer(number)
    } else if default.is_array() {
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        Value::Array(parts.map(|part| Value::String(part.to_owned())).collect())
    } else {
        Value::String(text)
    })
}

/// All settings as TOML. A secret shows only whether it is set.
pub(super) fn describe(table: &Table) -> String {
    let is_secret = |key: &str| {
        ["secret", "password", "_key", "smtp_url", "bus_options", "store_logins"]
            .iter()
            .any(|word| key.contains(word))
    };
    let line = |(key, value): (&String, &Value)| match (value.as_str(), value.as_array()) {
        (Some(""), _) => format!("{key} = \"\"\n"),
        (Some(_), _) if is_secret(key) => format!("{key} = \"(set)\"\n"),
        (Some(text), _) => format!("{key} = {:?}\n", without_password(text)),
        (None, Some(items)) if is_secret(key) && !items.is_empty() => {
            format!("{key} = \"(set)\"\n")
        }
        (None, Some(items)) => {
            let items = items.iter().filter_map(Value::as_str).map(without_password);
            format!("{key} = {:?}\n", items.collect::<Vec<_>>())
        }
        (None, None) => format!("{key} = {value}\n"),
    };
    table.iter().map(line).collect::<String>().trim_end().to_owned()
}

/// The URL with its password masked.
fn without_password(url: &str) -> String {
    let hidden = url.split_once("://").and_then(|(scheme, rest)| {
        let (person, host) = rest.rsplit_once('@')?;
        let (user, _) = person.split_once(':')?;
        Some(format!("{scheme}://{user}:***@{host}"))
    });
    hidden.unwrap_or_else(|| url.to_owned())
}
