//! Encrypted fields as they are stored, for key rotation.

use crate::sql::engine::commands::commands;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, Value, params};
use podo_app::Result;
use podo_app::identity::port::encrypted_fields::{
    EncryptedFields, EncryptedRow, EncryptedTable, Reencrypt,
};
use uuid::Uuid;

commands! {
    impl EncryptedFields for SqlStore {
        read n_sealed_rows(Count { table: EncryptedTable }) -> u64 as User => count;
        read encrypted_rows(RowsOf { table: EncryptedTable, after: Option<Uuid>, limit: u32 })
            -> Vec<EncryptedRow> as User => rows;
        write reencrypt(Reencrypt) -> bool as User => reencrypt;
    }
}

async fn count(tx: &mut dyn Tx, question: &Count) -> Result<u64> {
    let sql = match question.table {
        EncryptedTable::Users => "select count(*) as n_rows from users",
        EncryptedTable::Signals => {
            "select count(*) as n_rows from bot_signals where appeal is not null"
        }
        EncryptedTable::Devices => "select count(*) as n_rows from devices",
        EncryptedTable::Endpoints => "select count(*) as n_rows from webhook_endpoints",
        EncryptedTable::Invitations => {
            "select count(*) as n_rows from sign_ups where purpose = 'INVITE'"
        }
        EncryptedTable::SupportNotes => "select count(*) as n_rows from support_notes",
        EncryptedTable::TicketClaims => "select count(*) as n_rows from ticket_claims",
        EncryptedTable::IssuedOrders => "select count(*) as n_rows from issued_orders",
        EncryptedTable::PhaseWebhooks => "select count(*) as n_rows from phase_webhooks",
        EncryptedTable::RefundAccounts => "select count(*) as n_rows from refund_accounts",
    };
    Ok(tx.row(sql, &[]).await?.map_or(Ok(0), |row| row.get("n_rows"))?)
}

async fn rows(tx: &mut dyn Tx, question: &RowsOf) -> Result<Vec<EncryptedRow>> {
    let (sql, fields): (_, &[&str]) = match question.table {
        EncryptedTable::Users => (
            "select id, email, name, phone, ci, di, totp_secret from users
              where $1 < id order by id limit $2",
            &["email", "name", "phone", "ci", "di", "totp_secret"],
        ),
        EncryptedTable::Signals => (
            "select id, appeal from bot_signals
              where $1 < id and appeal is not null order by id limit $2",
            &["appeal"],
        ),
        EncryptedTable::Devices => {
            ("select id, token from devices where $1 < id order by id limit $2", &["token"])
        }
        EncryptedTable::Endpoints => (
            "select id, secret, previous_secret from webhook_endpoints
              where $1 < id order by id limit $2",
            &["secret", "previous_secret"],
        ),
        EncryptedTable::Invitations => (
            "select id, email from sign_ups
              where $1 < id and purpose = 'INVITE' order by id limit $2",
            &["email"],
        ),
        EncryptedTable::SupportNotes => {
            ("select id, body from support_notes where $1 < id order by id limit $2", &["body"])
        }
        EncryptedTable::TicketClaims => {
            ("select id, email from ticket_claims where $1 < id order by id limit $2", &["email"])
        }
        EncryptedTable::IssuedOrders => (
            "select id, name, phone, note from issued_orders where $1 < id order by id limit $2",
            &["name", "phone", "note"],
        ),
        EncryptedTable::PhaseWebhooks => (
            "select id, secret, previous_secret from phase_webhooks
              where $1 < id order by id limit $2",
            &["secret", "previous_secret"],
        ),
        EncryptedTable::RefundAccounts => (
            "select id, account from refund_accounts where $1 < id order by id limit $2",
            &["account"],
        ),
    };
    let after = question.after.unwrap_or_default();
    let read = |row: &Row| {
        let fields = fields.iter().map(|name| Ok(row.get(name)?)).collect::<Result<_>>()?;
        Ok(EncryptedRow { id: row.get("id")?, fields })
    };
    tx.query(sql, params![after, question.limit]).await?.iter().map(read).collect()
}

/// Compares every field, so a concurrent change by its owner isn't lost.
async fn reencrypt(tx: &mut dyn Tx, command: &Reencrypt) -> Result<bool> {
    let sql = match command.table {
        EncryptedTable::Users => {
            "update users set email = $3, name = $4, phone = $5, ci = $6, di = $7, totp_secret = $8,
                    updated_at = $2
              where id = $1 and email = $9 and name = $10 and phone is not distinct from $11
                and ci is not distinct from $12 and di is not distinct from $13
                and totp_secret is not distinct from $14"
        }
        EncryptedTable::Signals => {
            "update bot_signals set appeal = $3, updated_at = $2 where id = $1 and appeal = $4"
        }
        EncryptedTable::Devices => {
            "update devices set token = $3 where id = $1 and created_at <= $2 and token = $4"
        }
        EncryptedTable::Endpoints => {
            "update webhook_endpoints set secret = $3, previous_secret = $4, updated_at = $2
              where id = $1 and secret = $5 and previous_secret is not distinct from $6"
        }
        EncryptedTable::Invitations => {
            "update sign_ups set email = $3 where id = $1 and created_at <= $2 and email = $4"
        }
        EncryptedTable::SupportNotes => {
            "update support_notes set body = $3 where id = $1 and created_at <= $2 and body = $4"
        }
        EncryptedTable::TicketClaims => {
            "update ticket_claims set email = $3 where id = $1 and created_at <= $2 and email = $4"
        }
        EncryptedTable::IssuedOrders => {
            "update issued_orders set name = $3, phone = $4, note = $5
              where id = $1 and created_at <= $2 and name = $6
                and phone is not distinct from $7 and note is not distinct from $8"
        }
        EncryptedTable::PhaseWebhooks => {
            "update phase_webhooks set secret = $3, previous_secret = $4, updated_at = $2
              where id = $1 and secret = $5 and previous_secret is not distinct from $6"
        }
        EncryptedTable::RefundAccounts => {
            "update refund_accounts set account = $3
              where id = $1 and created_at <= $2 and account = $4"
        }
    };
    let mut values: Vec<Value> = params![command.known.id, command.now].to_vec();
    let fields = command.fields.iter().chain(&command.known.fields);
    values.extend(fields.map(|field| Value::from(field.clone())));
    Ok(tx.execute(sql, &values).await? == 1)
}
