//! Retention of personal data: dormant accounts, erased fields, old log-ins.

use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::params;
use crate::sql::identity::accounts::{
    Erase, EraseWithdrawn, ForgetLogins, KeepLoginMonths, MakeDormant, Withdrawn, first_id_at,
};
use podo_app::identity::port::accounts::LoginsKept;
use podo_app::{Error, Result};
use podo_domain::UserId;

pub(super) async fn erase_all(tx: &mut dyn Tx, command: &EraseWithdrawn) -> Result<u64> {
    let EraseWithdrawn { before, limit, now } = *command;
    let users = withdrawn(tx, &Withdrawn { before, limit, now }).await?;
    for user in &users {
        erase(tx, &Erase { user: *user, now }).await?;
    }
    Ok(users.len() as u64)
}

/// Accounts withdrawn long enough ago, without those in back-off after a failed attempt.
pub(super) async fn withdrawn(tx: &mut dyn Tx, question: &Withdrawn) -> Result<Vec<UserId>> {
    let sql = "select id from users u
                where status = 'DELETED' and erased_at is null and deleted_at < $1
                  and coalesce((select f.next_at from job_failures f
                                   where f.job = 'retention' and f.item = u.id), $3) <= $3
                limit $2";
    let rows = tx.query(sql, params![question.before, question.limit, question.now]).await?;
    rows.iter().map(|row| Ok(row.get("id")?)).collect()
}

/// The row stays, because payments and tickets refer to it, but nothing in it identifies the
/// person.
pub(super) async fn erase(tx: &mut dyn Tx, command: &Erase) -> Result<()> {
    let sql = "update users set email = $2, email_hash = $3, password_hash = '', name = $2,
                      phone = null, phone_hash = null, ci = null, ci_hash = null, di = null,
                      di_hash = null, verified_at = null, totp_secret = null, totp_since = null,
                      erased_at = $4, updated_at = $4
                where id = $1";
    let mut unmatched_hash = [0_u8; 32];
    tx.rng().fill(&mut unmatched_hash);
    tx.execute(sql, params![command.user, [].as_slice(), unmatched_hash, command.now]).await?;
    for sql in [
        "delete from name_prefixes where user_id = $1",
        "delete from support_notes where user_id = $1",
        "delete from artist_follows where user_id = $1",
    ] {
        tx.execute(sql, params![command.user]).await?;
    }
    Ok(())
}

pub(super) async fn make_dormant(tx: &mut dyn Tx, command: &MakeDormant) -> Result<u64> {
    let sql = "update users set status = 'DORMANT', updated_at = $3
                where id in (select id from users
                              where status = 'ACTIVE' and role = 'USER' and last_login_at < $1
                              limit $2)";
    Ok(tx.execute(sql, params![command.unused_since, command.limit, command.now]).await?)
}

pub(super) async fn forget_logins(tx: &mut dyn Tx, command: &ForgetLogins) -> Result<LoginsKept> {
    let sql = "delete from login_history where id in
                 (select id from login_history where id < $1 limit $2)";
    let deleted = tx.execute(sql, params![first_id_at(command.before), command.limit]).await?;
    Ok(LoginsKept { deleted, ..LoginsKept::default() })
}

/// PostgreSQL only: a service can't create tables, so a function of the schema's owner does.
pub(super) async fn keep_login_months(
    tx: &mut dyn Tx,
    command: &KeepLoginMonths,
) -> Result<LoginsKept> {
    // Moving rows from the default partition into their month can take a while.
    tx.take_time().await?;
    let sql = "select made, dropped, deleted from user_service.keep_login_months($1, $2, $3)";
    let row = tx.row(sql, params![command.now, command.before, command.limit]).await?;
    let row = row.ok_or_else(|| Error::Broken("the function returned no row".into()))?;
    Ok(LoginsKept {
        made: row.get("made")?,
        dropped: row.get("dropped")?,
        deleted: row.get("deleted")?,
    })
}
