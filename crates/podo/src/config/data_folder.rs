//! The data folder: the database, the secret key and other files that only one account may read.

use crate::config::secret;
use anyhow::{Context, Result};
use std::fs::{DirBuilder, Permissions};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;

const PRIVATE: u32 = 0o700;

/// Creates the folder with mode 700, and tightens an existing folder that is ours.
pub(crate) fn make(data: &Path) -> Result<()> {
    let made = DirBuilder::new().recursive(true).mode(PRIVATE).create(data);
    made.with_context(|| format!("cannot create the data folder {}", data.display()))?;
    let mode = data.metadata()?.permissions().mode();
    if mode & 0o077 == 0 || !is_ours(data) {
        return Ok(());
    }
    if let Err(error) = std::fs::set_permissions(data, Permissions::from_mode(PRIVATE)) {
        let folder = data.display();
        tracing::warn!(%folder, %error, "Other users can read the data folder; run chmod 700");
    }
    Ok(())
}

/// A folder with other contents, such as a home folder or /tmp, keeps its mode.
fn is_ours(data: &Path) -> bool {
    let is_empty = || data.read_dir().is_ok_and(|mut entries| entries.next().is_none());
    data.join(secret::FILE).exists() || is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode_of(path: &Path) -> u32 {
        path.metadata().unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn the_folder_is_closed_to_others_unless_it_holds_other_things() {
        let home = tempfile::tempdir().unwrap();
        let new = home.path().join("a/b");
        make(&new).unwrap();
        assert_eq!(mode_of(&new), 0o700);
        std::fs::write(new.join(secret::FILE), "").unwrap();
        std::fs::set_permissions(&new, Permissions::from_mode(0o755)).unwrap();
        make(&new).unwrap();
        assert_eq!(mode_of(&new), 0o700, "an earlier version left it readable");
        let other = home.path().join("other");
        std::fs::create_dir(&other).unwrap();
        std::fs::write(other.join("holiday.jpg"), "").unwrap();
        std::fs::set_permissions(&other, Permissions::from_mode(0o755)).unwrap();
        make(&other).unwrap();
        assert_eq!(mode_of(&other), 0o755);
    }
}
