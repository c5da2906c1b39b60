//! Changes to a person's own account.

use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, params};
use crate::sql::identity::accounts::sessions::end_all;
use crate::sql::identity::accounts::{LoginsOf, Withdraw, social};
use crate::sql::identity::team;
use crate::sql::messaging::outbox::security_changed;
use podo_app::identity::port::accounts::{ChangePassword, ChangeProfile, LoginView, RenewHash};
use podo_app::{Error, Result};
use podo_domain::identity::permissions::{Membership, TeamRole};
use podo_domain::messaging::announcements::SecurityChange;
use podo_domain::{Refusal, SessionId};
use uuid::Uuid;

pub(super) async fn change(tx: &mut dyn Tx, command: &ChangeProfile) -> Result<()> {
    if let Some(name) = &command.name {
        let sql = "update users set name = $2, name_indexed = false, updated_at = $3
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

pub(super) async fn change_password(
    tx: &mut dyn Tx,
    command: &ChangePassword,
) -> Result<Vec<SessionId>> {
    let sql = "update users set password_hash = $3, updated_at = $4
                where id = $1 and password_hash = $2 and status <> 'DELETED'";
    let values = params![command.user, &command.known_hash, &command.new_hash, command.now];
    if tx.execute(sql, values).await? != 1 {
        return Err(Error::Conflict("a concurrent command changed the password".into()));
    }
    security_changed(tx, command.user, SecurityChange::PasswordChanged, command.now).await?;
    end_all(tx, command.user, Some(command.keep), command.now).await
}

pub(super) async fn renew_hash(tx: &mut dyn Tx, command: &RenewHash) -> Result<()> {
    let sql = "update users set password_hash = $3, updated_at = $4
                where id = $1 and password_hash = $2";
    let values = params![command.user, &command.known, &command.new, command.now];
    tx.execute(sql, values).await?;
    Ok(())
}

pub(super) async fn withdraw(tx: &mut dyn Tx, command: &Withdraw) -> Result<Vec<SessionId>> {
    let is_owner = |it: Membership| it.role == TeamRole::Owner;
    if team::membership_of(tx, command.user).await?.is_some_and(is_owner) {
        team::lock_team(tx).await?;
        team::require_other_owner(tx, command.user).await?;
    }
    let sql = "update users set status = 'DELETED', deleted_at = $2, updated_at = $2
                where id = $1 and status <> 'DELETED'";
    if tx.execute(sql, params![command.user, command.now]).await? != 1 {
        return Err(Refusal::LoginRequired.into());
    }
    social::forget(tx, command.user).await?;
    tx.execute("delete from team_members where user_id = $1", params![command.user]).await?;
    end_all(tx, command.user, None, command.now).await
}

pub(super) async fn logins(tx: &mut dyn Tx, question: &LoginsOf) -> Result<Vec<LoginView>> {
    let sql = "select id, created_at, method, success, reason, ip, agent from login_history
                where user_id = $1 and id < $2 order by id desc limit $3";
    let read = |row: &Row| {
        Ok(LoginView {
            id: row.get("id")?,
            at: row.get("created_at")?,
            method: row.get("method")?,
            success: row.get("success")?,
            reason: row.get("reason")?,
            ip: row.get("ip")?,
            agent: row.get("agent")?,
        })
    };
    let before = question.page.after.unwrap_or(Uuid::max());
    let values = params![question.user, before, question.page.limit + 1];
    tx.query(sql, values).await?.iter().map(read).collect()
}
