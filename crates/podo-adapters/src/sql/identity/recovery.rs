//! Forgotten passwords and changed addresses.

use crate::sql::engine::commands::commands;
use crate::sql::engine::tx::{SqlError, Tx};
use crate::sql::engine::value::params;
use crate::sql::identity::accounts::sessions::end_all;
use crate::sql::identity::accounts::sign_ups::ask;
use podo_app::identity::port::recovery::{ChangeEmail, Recovery, ResetPassword};
use podo_app::{Error, Result};
use podo_domain::identity::SIGN_UP_TRIES_MAX;
use podo_domain::{Refusal, SessionId, Timestamp, UserId};

commands! {
    impl Recovery for SqlStore {
        read can_reset(CanReset { pending: UserId, token_hash: [u8; 32], now: Timestamp })
            -> bool as User => can_reset;
        write reset_password(ResetPassword) -> Option<Vec<SessionId>> as User => reset;
        write change_email(ChangeEmail) -> Option<Vec<SessionId>> as User => change_email;
    }
}

/// The account of a valid link. An address that changed meanwhile makes it invalid.
const RESETTABLE: &str = "select u.id
                            from sign_ups s join users u on u.id = s.proves
                           where s.id = $1 and s.code_hash = $2 and $3 < s.expires_at
                             and s.purpose = 'RESET' and u.email_hash = s.email_hash
                             and u.status <> 'DELETED'";

async fn can_reset(tx: &mut dyn Tx, question: &CanReset) -> Result<bool> {
    let values = params![question.pending, question.token_hash, question.now];
    Ok(tx.row(RESETTABLE, values).await?.is_some())
}

async fn reset(tx: &mut dyn Tx, command: &ResetPassword) -> Result<Option<Vec<SessionId>>> {
    let ResetPassword { pending, token_hash, new_hash, now } = command;
    let found = tx.row(RESETTABLE, params![*pending, *token_hash, *now]).await?;
    let Some(found) = found else { return Ok(None) };
    let user: UserId = found.get("id")?;
    // One of two simultaneous calls deletes the row.
    let spend = "delete from sign_ups where id = $1";
    if tx.execute(spend, params![*pending]).await? != 1 {
        return Ok(None);
    }
    let others = "delete from sign_ups where proves = $1 and purpose = 'RESET'";
    tx.execute(others, params![user]).await?;
    let sql = "update users set password_hash = $2, updated_at = $3,
                      email_proven_at = coalesce(email_proven_at, $3)
                where id = $1 and status <> 'DELETED'";
    tx.execute(sql, params![user, new_hash, *now]).await?;
    Ok(Some(end_all(tx, user, None, *now).await?))
}

/// A wrong code is counted, so it isn't a refusal here: that would roll back the count.
async fn change_email(tx: &mut dyn Tx, command: &ChangeEmail) -> Result<Option<Vec<SessionId>>> {
    let ChangeEmail { user, pending, code_hash, email, email_hash, notice, keep, now } = command;
    let sql = "update sign_ups set n_tries = n_tries + 1
                where id = $1 and n_tries < $2 and $3 < expires_at and proves = $4
                  and purpose = 'NEW_EMAIL' and taken_by is null
               returning code_hash, email_hash";
    let values = params![*pending, i64::from(SIGN_UP_TRIES_MAX), *now, *user];
    let Some(row) = tx.row(sql, values).await? else { return Ok(None) };
    let is_right = row.get::<[u8; 32]>("code_hash")? == *code_hash;
    if !is_right || row.get::<[u8; 32]>("email_hash")? != *email_hash {
        return Ok(None);
    }
    let sql =
        "update users set email = $2, email_hash = $3, email_proven_at = $4, email_indexed = false,
                      updated_at = $4
                where id = $1 and status <> 'DELETED'";
    let values = params![*user, email.as_slice(), *email_hash, *now];
    tx.execute(sql, values).await.map_err(taken)?;
    let spent = "delete from sign_ups where id = $1
                    or (proves = $2 and purpose = 'RESET')";
    tx.execute(spent, params![*pending, *user]).await?;
    if let Some(notice) = notice {
        ask(tx, notice).await?;
    }
    Ok(Some(end_all(tx, *user, Some(*keep), *now).await?))
}

fn taken(error: SqlError) -> Error {
    match error.is_constraint("users_email_live") {
        true => Refusal::EmailTaken.into(),
        false => error.into(),
    }
}
