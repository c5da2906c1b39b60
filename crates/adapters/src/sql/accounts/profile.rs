//! What people change about their own account.

use super::sessions::end_all;
use super::social;
use crate::sql::tx::{Tx, work};
use crate::sql::value::{Row, params};
use app::paging::PageAsk;
use app::ports::accounts::{ChangePassword, ChangeProfile, LoginView};
use app::{Error, Result};
use domain::{Refusal, SessionId, Timestamp, UserId};
use uuid::Uuid;

pub(super) struct RenewHash {
    pub(super) user: UserId,
    pub(super) known: String,
    pub(super) new: String,
    pub(super) now: Timestamp,
}

pub(super) struct Withdraw {
    pub(super) user: UserId,
    pub(super) now: Timestamp,
}

pub(super) struct LoginsOf {
    pub(super) user: UserId,
    pub(super) page: PageAsk,
}

work!(User: ChangeProfile => change, ());
work!(User: ChangePassword => change_password, Vec<SessionId>);
work!(User: RenewHash => renew_hash, ());
work!(User: Withdraw => withdraw, Vec<SessionId>);
work!(User: LoginsOf => logins, Vec<LoginView>);

async fn change(tx: &mut dyn Tx, command: &ChangeProfile) -> Result<()> {
    if let Some(name) = &command.name {
        let sql = "update users set name = $2, updated_at = $3
                    where id = $1 and status <> 'DELETED'";
        tx.execute(sql, params![command.user, name.as_slice(), command.now]).await?;
    }
    if let Some(phone) = &command.phone {
        let sql = "update users set phone = $2, phone_hash = $3, updated_at = $4
                    where id = $1 and status <> 'DELETED'";
        let values = params![command.user, phone.phone.clone(), phone.phone_hash, command.now];
        tx.execute(sql, values).await?;
    }
    Ok(())
}

async fn change_password(tx: &mut dyn Tx, command: &ChangePassword) -> Result<Vec<SessionId>> {
    let sql = "update users set password_hash = $3, updated_at = $4
                where id = $1 and password_hash = $2 and status <> 'DELETED'";
    let values = params![command.user, &command.known_hash, &command.new_hash, command.now];
    if tx.execute(sql, values).await? != 1 {
        return Err(Error::Conflict("the password was changed by another command".into()));
    }
    end_all(tx, command.user, Some(command.keep), command.now).await
}

async fn renew_hash(tx: &mut dyn Tx, command: &RenewHash) -> Result<()> {
    let sql = "update users set password_hash = $3, updated_at = $4
                where id = $1 and password_hash = $2";
    let values = params![command.user, &command.known, &command.new, command.now];
    tx.execute(sql, values).await?;
    Ok(())
}

async fn withdraw(tx: &mut dyn Tx, command: &Withdraw) -> Result<Vec<SessionId>> {
    let sql = "update users set status = 'DELETED', deleted_at = $2, updated_at = $2
                where id = $1 and status <> 'DELETED'";
    if tx.execute(sql, params![command.user, command.now]).await? != 1 {
        return Err(Refusal::LoginRequired.into());
    }
    social::forget(tx, command.user).await?;
    end_all(tx, command.user, None, command.now).await
}

async fn logins(tx: &mut dyn Tx, question: &LoginsOf) -> Result<Vec<LoginView>> {
    let sql = "select id, created_at, method, success, reason, ip, agent from login_history
                where user_id = $1 and id < $2 order by id desc limit $3";
    let read = |row: &Row| {
        Ok(LoginView {
            id: row.get(0)?,
            at: row.get(1)?,
            method: row.get(2)?,
            success: row.get(3)?,
            reason: row.get(4)?,
            ip: row.get(5)?,
            agent: row.get(6)?,
        })
    };
    let before = question.page.after.unwrap_or(Uuid::max());
    let values = params![question.user, before, question.page.limit + 1];
    tx.query(sql, values).await?.iter().map(read).collect()
}
