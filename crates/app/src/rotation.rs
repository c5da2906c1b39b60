//! Changing the key of sealed fields, while the platform runs.

use crate::error::Result;
use crate::platform::Platform;
use crate::ports::sealed::{Reseal, SealedRow, SealedTable};
use uuid::Uuid;

/// What one round did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Round {
    pub n_seen: u64,
    /// Rows that were sealed anew.
    pub n_resealed: u64,
    /// Rows that somebody changed at the same moment: they are met again in the next pass.
    pub n_missed: u64,
    pub last: Option<Uuid>,
}

/// Seals the next rows with the current key where an older one did. It can stop anywhere and start
/// again: what is done is passed over.
pub async fn reseal(
    platform: &Platform,
    table: SealedTable,
    after: Option<Uuid>,
    limit: u32,
) -> Result<Round> {
    let rows = platform.store.sealed_rows(table, after, limit).await?;
    let mut round = Round { last: rows.last().map(|row| row.id), ..Round::default() };
    for known in rows {
        round.n_seen += 1;
        let Some(fields) = anew(platform, table, &known)? else { continue };
        let command = Reseal { table, known, fields, now: platform.now() };
        match platform.store.reseal(command).await? {
            true => round.n_resealed += 1,
            false => round.n_missed += 1,
        }
    }
    Ok(round)
}

/// The row sealed with the current key; nothing when it is already.
fn anew(
    platform: &Platform,
    table: SealedTable,
    row: &SealedRow,
) -> Result<Option<Vec<Option<Vec<u8>>>>> {
    let is_done = |field: &Option<Vec<u8>>| {
        field.as_ref().is_none_or(|sealed| sealed.is_empty() || platform.seals.is_current(sealed))
    };
    if row.fields.iter().all(is_done) {
        return Ok(None);
    }
    let (name, columns) = table.seals();
    let anew = |(column, field): (&&str, &Option<Vec<u8>>)| {
        let Some(sealed) = field.as_ref().filter(|sealed| !sealed.is_empty()) else {
            return Ok(field.clone());
        };
        let place = format!("{name}.{column}.{}", row.id);
        let value = platform.seals.open(&place, sealed)?;
        Ok(Some(platform.seals.seal(&place, &value, &*platform.chance)))
    };
    columns.iter().zip(&row.fields).map(anew).collect::<Result<Vec<_>>>().map(Some)
}
