//! Sealed fields as they are stored, for changing the key that sealed them.

use super::store::SqlStore;
use super::tx::{Tx, work};
use super::value::{Row, Value, params};
use app::Result;
use app::ports::sealed::{Reseal, SealedFields, SealedRow, SealedTable};
use async_trait::async_trait;
use uuid::Uuid;

struct Count(SealedTable);

struct RowsOf {
    table: SealedTable,
    after: Option<Uuid>,
    limit: u32,
}

work!(User: Count => count, u64);
work!(User: RowsOf => rows, Vec<SealedRow>);
work!(User: Reseal => reseal, bool);

#[async_trait]
impl SealedFields for SqlStore {
    async fn n_sealed_rows(&self, table: SealedTable) -> Result<u64> {
        self.read(Count(table)).await
    }

    async fn sealed_rows(
        &self,
        table: SealedTable,
        after: Option<Uuid>,
        limit: u32,
    ) -> Result<Vec<SealedRow>> {
        self.read(RowsOf { table, after, limit }).await
    }

    async fn reseal(&self, command: Reseal) -> Result<bool> {
        self.write(command).await
    }
}

async fn count(tx: &mut dyn Tx, question: &Count) -> Result<u64> {
    let sql = match question.0 {
        SealedTable::Users => "select count(*) from users",
        SealedTable::Signals => "select count(*) from bot_signals where appeal is not null",
        SealedTable::Devices => "select count(*) from devices",
        SealedTable::Endpoints => "select count(*) from webhook_endpoints",
    };
    Ok(tx.row(sql, &[]).await?.map_or(Ok(0), |row| row.get(0))?)
}

async fn rows(tx: &mut dyn Tx, question: &RowsOf) -> Result<Vec<SealedRow>> {
    let sql = match question.table {
        SealedTable::Users => {
            "select id, email, name, phone, ci, di, totp_secret from users
              where $1 < id order by id limit $2"
        }
        SealedTable::Signals => {
            "select id, appeal from bot_signals
              where $1 < id and appeal is not null order by id limit $2"
        }
        SealedTable::Devices => "select id, token from devices where $1 < id order by id limit $2",
        SealedTable::Endpoints => {
            "select id, secret, previous_secret from webhook_endpoints
              where $1 < id order by id limit $2"
        }
    };
    let after = question.after.unwrap_or_default();
    let read = |row: &Row| {
        let n_fields = question.table.seals().1.len();
        let fields = (1..=n_fields).map(|index| Ok(row.get(index)?)).collect::<Result<_>>();
        Ok(SealedRow { id: row.get(0)?, fields: fields? })
    };
    tx.query(sql, params![after, question.limit]).await?.iter().map(read).collect()
}

/// Compares every field: what its owner changes at the same moment is not lost.
async fn reseal(tx: &mut dyn Tx, command: &Reseal) -> Result<bool> {
    let sql = match command.table {
        SealedTable::Users => {
            "update users set email = $3, name = $4, phone = $5, ci = $6, di = $7, totp_secret = $8,
                    updated_at = $2
              where id = $1 and email = $9 and name = $10 and phone is not distinct from $11
                and ci is not distinct from $12 and di is not distinct from $13
                and totp_secret is not distinct from $14"
        }
        SealedTable::Signals => {
            "update bot_signals set appeal = $3, updated_at = $2 where id = $1 and appeal = $4"
        }
        SealedTable::Devices => {
            "update devices set token = $3 where id = $1 and created_at <= $2 and token = $4"
        }
        SealedTable::Endpoints => {
            "update webhook_endpoints set secret = $3, previous_secret = $4, updated_at = $2
              where id = $1 and secret = $5 and previous_secret is not distinct from $6"
        }
    };
    let mut values: Vec<Value> = params![command.known.id, command.now].to_vec();
    let fields = command.fields.iter().chain(&command.known.fields);
    values.extend(fields.map(|field| Value::from(field.clone())));
    Ok(tx.execute(sql, &values).await? == 1)
}
