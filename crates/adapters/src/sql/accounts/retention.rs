//! What is not needed any more is not kept: sleeping accounts, erased fields, forgotten log-ins.

use super::first_id_at;
use crate::sql::tx::{Tx, work};
use crate::sql::value::params;
use app::ports::accounts::LoginsKept;
use app::{Error, Result};
use domain::{Timestamp, UserId};

pub(super) struct EraseWithdrawn {
    pub(super) before: Timestamp,
    pub(super) limit: u32,
    pub(super) now: Timestamp,
}

pub(super) struct MakeDormant {
    pub(super) unused_since: Timestamp,
    pub(super) limit: u32,
    pub(super) now: Timestamp,
}

pub(super) struct ForgetLogins {
    pub(super) before: Timestamp,
    pub(super) limit: u32,
}

/// The same where log-ins are kept by month.
pub(super) struct KeepLoginMonths {
    pub(super) before: Timestamp,
    pub(super) limit: u32,
    pub(super) now: Timestamp,
}

pub(super) struct Withdrawn {
    pub(super) before: Timestamp,
    pub(super) limit: u32,
    pub(super) now: Timestamp,
}

pub(super) struct Erase {
    pub(super) user: UserId,
    pub(super) now: Timestamp,
}

work!(User: EraseWithdrawn => erase_all, u64);
work!(User: Withdrawn => withdrawn, Vec<UserId>);
work!(User: Erase => erase, ());
work!(User: MakeDormant => make_dormant, u64);
work!(User: ForgetLogins => forget_logins, LoginsKept);
work!(Worker: KeepLoginMonths => keep_login_months, LoginsKept);

async fn erase_all(tx: &mut dyn Tx, command: &EraseWithdrawn) -> Result<u64> {
    let EraseWithdrawn { before, limit, now } = *command;
    let users = withdrawn(tx, &Withdrawn { before, limit, now }).await?;
    for user in &users {
        erase(tx, &Erase { user: *user, now }).await?;
    }
    Ok(users.len() as u64)
}

/// Those who withdrew long enough ago; one that could not be erased waits for the next try.
async fn withdrawn(tx: &mut dyn Tx, question: &Withdrawn) -> Result<Vec<UserId>> {
    let sql = "select id from users u
                where status = 'DELETED' and erased_at is null and deleted_at < $1
                  and coalesce((select f.next_at from job_failures f
                                   where f.job = 'retention' and f.item = u.id), $3) <= $3
                limit $2";
    let rows = tx.query(sql, params![question.before, question.limit, question.now]).await?;
    rows.iter().map(|row| Ok(row.get(0)?)).collect()
}

/// The row stays, because payments and tickets name it; nothing in it tells who it was.
async fn erase(tx: &mut dyn Tx, command: &Erase) -> Result<()> {
    let sql = "update users set email = $2, email_hash = $3, password_hash = '', name = $2,
                      phone = null, phone_hash = null, ci = null, ci_hash = null, di = null,
                      di_hash = null, verified_at = null, totp_secret = null, totp_since = null,
                      erased_at = $4, updated_at = $4
                where id = $1";
    let mut nobody = [0_u8; 32];
    tx.chance().fill(&mut nobody);
    tx.execute(sql, params![command.user, [].as_slice(), nobody, command.now]).await?;
    Ok(())
}

async fn make_dormant(tx: &mut dyn Tx, command: &MakeDormant) -> Result<u64> {
    let sql = "update users set status = 'DORMANT', updated_at = $3
                where id in (select id from users
                              where status = 'ACTIVE' and role = 'USER' and last_login_at < $1
                              limit $2)";
    Ok(tx.execute(sql, params![command.unused_since, command.limit, command.now]).await?)
}

async fn forget_logins(tx: &mut dyn Tx, command: &ForgetLogins) -> Result<LoginsKept> {
    let sql = "delete from login_history where id in
                 (select id from login_history where id < $1 limit $2)";
    let deleted = tx.execute(sql, params![first_id_at(command.before), command.limit]).await?;
    Ok(LoginsKept { deleted, ..LoginsKept::default() })
}

/// PostgreSQL alone: a service may not make tables, so a function of their owner does.
async fn keep_login_months(tx: &mut dyn Tx, command: &KeepLoginMonths) -> Result<LoginsKept> {
    // Rows that missed their month move into it.
    tx.take_time().await?;
    let sql = "select made, dropped, deleted from user_service.keep_login_months($1, $2, $3)";
    let row = tx.row(sql, params![command.now, command.before, command.limit]).await?;
    let row = row.ok_or_else(|| Error::Broken("a function without an answer".into()))?;
    Ok(LoginsKept { made: row.get(0)?, dropped: row.get(1)?, deleted: row.get(2)? })
}
