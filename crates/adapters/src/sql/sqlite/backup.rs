//! A copy of the database, taken while it is in use.

use super::connection::open;
use super::private::keep_private;
use std::path::Path;

/// Writes what is committed now into a new file, and reads that file through. Writers go on
/// meanwhile; what they commit after the start is not in the copy.
pub(crate) fn back_up(from: &Path, to: &Path) -> Result<(), String> {
    let target = to.to_str().ok_or_else(|| format!("{} is no text", to.display()))?;
    let connection = open(from, false)?;
    keep_private(to)?;
    connection.execute("vacuum into ?1", [target]).map_err(|error| error.to_string())?;
    let copy = open(to, false)?;
    let found: String = copy
        .query_row("pragma integrity_check", [], |row| row.get(0))
        .map_err(|error| error.to_string())?;
    match found.as_str() {
        "ok" => Ok(()),
        broken => Err(format!("the copy is broken: {broken}")),
    }
}
