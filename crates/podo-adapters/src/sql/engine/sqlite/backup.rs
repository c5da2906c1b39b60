//! An online backup of the database.

use crate::sql::engine::sqlite::connection::open;
use crate::sql::engine::sqlite::private::keep_private;
use std::path::Path;

/// Writes the committed data into a new file and checks that file. Writers continue; the copy
/// doesn't contain what they commit after the start.
pub(crate) fn back_up(from: &Path, to: &Path) -> Result<(), String> {
    let target = to.to_str().ok_or_else(|| format!("{} is no text", to.display()))?;
    let connection = open(from, false)?;
    keep_private(to)?;
    connection.execute("vacuum into ?1", [target]).map_err(|error| error.to_string())?;
    let copy = open(to, false)?;
    let found: String = copy
        .query_row("pragma integrity_check", [], |row| row.get("integrity_check"))
        .map_err(|error| error.to_string())?;
    match found.as_str() {
        "ok" => Ok(()),
        broken => Err(format!("the copy is broken: {broken}")),
    }
}
