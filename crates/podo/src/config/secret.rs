//! The master secret: created at the first start and kept in the data folder with mode 600.

use anyhow::{Context, Result, bail};
use podo_app::operations::port::clock::Rng;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

pub(crate) const FILE: &str = "secret.key";

/// Reads the data folder's secret, or creates one. Without it, everything signed or encrypted with
/// it is lost: back it up, but not beside the database.
pub(crate) fn load_or_make(data: &Path, rng: &dyn Rng) -> Result<[u8; 32]> {
    let path = data.join(FILE);
    match std::fs::read_to_string(&path) {
        Ok(text) => parse(text.trim())
            .with_context(|| format!("{} is not 64 hexadecimal digits", path.display())),
        Err(error) if error.kind() == ErrorKind::NotFound => make(&path, rng),
        Err(error) => bail!("cannot read {}: {error}", path.display()),
    }
}

fn make(path: &Path, rng: &dyn Rng) -> Result<[u8; 32]> {
    let secret = rng.secret();
    let text: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .with_context(|| format!("cannot create {}", path.display()))?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    Ok(secret)
}

/// Parses 64 hexadecimal digits.
pub(crate) fn parse(text: &str) -> Option<[u8; 32]> {
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    let mut secret = [0; 32];
    for (index, byte) in secret.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * index..2 * index + 2], 16).ok()?;
    }
    Some(secret)
}

#[cfg(test)]
mod tests {
    use super::*;
    use podo_adapters::clock::SystemRng;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn the_secret_is_made_once_and_only_its_owner_can_read_it() {
        let folder = tempfile::tempdir().unwrap();
        let made = load_or_make(folder.path(), &SystemRng::new()).unwrap();
        assert_eq!(load_or_make(folder.path(), &SystemRng::new()).unwrap(), made);
        let mode = folder.path().join(FILE).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_damaged_secret_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(FILE), "oops").unwrap();
        assert!(load_or_make(folder.path(), &SystemRng::new()).is_err());
    }
}
