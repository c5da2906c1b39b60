//! Key rotation of encrypted fields while the platform runs.

use crate::context::AppContext;
use crate::error::Result;
use crate::identity::port::encrypted_fields::{EncryptedRow, EncryptedTable, Reencrypt};
use uuid::Uuid;

/// The result of one round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Round {
    pub n_seen: u64,
    /// Rows that were re-encrypted.
    pub n_reencrypted: u64,
    /// Rows that changed concurrently; the next pass visits them again.
    pub n_missed: u64,
    pub last: Option<Uuid>,
}

/// Re-encrypts the next rows that an older key encrypted. It can stop and restart anywhere:
/// finished rows are skipped.
pub async fn reencrypt(
    context: &AppContext,
    table: EncryptedTable,
    after: Option<Uuid>,
    limit: u32,
) -> Result<Round> {
    let rows = context.store.encrypted_rows(table, after, limit).await?;
    let mut round = Round { last: rows.last().map(|row| row.id), ..Round::default() };
    for known in rows {
        round.n_seen += 1;
        let Some(fields) = anew(context, table, &known)? else { continue };
        let command = Reencrypt { table, known, fields, now: context.now() };
        match context.store.reencrypt(command).await? {
            true => round.n_reencrypted += 1,
            false => round.n_missed += 1,
        }
    }
    Ok(round)
}

/// The row encrypted with the current key; `None` if it already is.
fn anew(
    context: &AppContext,
    table: EncryptedTable,
    row: &EncryptedRow,
) -> Result<Option<Vec<Option<Vec<u8>>>>> {
    let is_done = |field: &Option<Vec<u8>>| {
        field
            .as_ref()
            .is_none_or(|encrypted| encrypted.is_empty() || context.keyring.is_current(encrypted))
    };
    if row.fields.iter().all(is_done) {
        return Ok(None);
    }
    let (name, columns) = table.keyring();
    let anew = |(column, field): (&&str, &Option<Vec<u8>>)| {
        let Some(encrypted) = field.as_ref().filter(|encrypted| !encrypted.is_empty()) else {
            return Ok(field.clone());
        };
        let place = format!("{name}.{column}.{}", row.id);
        let value = context.keyring.decrypt(&place, encrypted)?;
        Ok(Some(context.keyring.encrypt(&place, &value, &*context.rng)))
    };
    columns.iter().zip(&row.fields).map(anew).collect::<Result<Vec<_>>>().map(Some)
}
