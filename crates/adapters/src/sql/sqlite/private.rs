//! The files of a database belong to one account: nobody else may read or change them.

use std::fs::{OpenOptions, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// Read and write, by their owner alone.
const PRIVATE: u32 = 0o600;

/// Makes the file if there is none, and takes it away from others if an earlier version, or a copy by
/// hand, left it open. SQLite gives the log beside it the same rights when it makes one.
pub(super) fn keep_private(path: &Path) -> Result<(), String> {
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

/// A file that belongs to another account stays as it is: its owner decides.
fn close_to_others(path: &Path) {
    let Ok(file) = path.metadata() else { return };
    if file.permissions().mode() & 0o077 == 0 {
        return;
    }
    if let Err(error) = std::fs::set_permissions(path, Permissions::from_mode(PRIVATE)) {
        tracing::warn!(file = %path.display(), %error, "Others can read the database; chmod 600");
    }
}
