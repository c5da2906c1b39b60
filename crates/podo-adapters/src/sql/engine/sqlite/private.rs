//! File permissions of the database: only its owner can read or write it.

use std::fs::{OpenOptions, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// Read and write for the owner only.
const PRIVATE: u32 = 0o600;

/// Creates the file if it is missing, and tightens its permissions if an earlier version or a
/// manual copy left it readable. SQLite creates the WAL with the same permissions.
pub(crate) fn keep_private(path: &Path) -> Result<(), String> {
    let mut new = OpenOptions::new();
    match new.write(true).create_new(true).mode(PRIVATE).open(path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            return Err(format!("cannot make {}: {error}", path.display()));
        }
        Ok(_) | Err(_) => {}
    }
    for suffix in ["", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        close_to_others(Path::new(&name));
    }
    Ok(())
}

/// A file of another account stays as it is: its owner decides.
fn close_to_others(path: &Path) {
    let Ok(file) = path.metadata() else { return };
    if file.permissions().mode() & 0o077 == 0 {
        return;
    }
    if let Err(error) = std::fs::set_permissions(path, Permissions::from_mode(PRIVATE)) {
        tracing::warn!(file = %path.display(), %error, "Other accounts can read the database; run chmod 600");
    }
}
