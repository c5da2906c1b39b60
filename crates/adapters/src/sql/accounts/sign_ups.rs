//! Accounts that somebody asked for and did not confirm yet.

use super::create;
use crate::sql::outbox::{self, Outgoing};
use crate::sql::tx::{Tx, work};
use crate::sql::value::{Row, params};
use app::Result;
use app::ports::accounts::{AskSignUp, ConfirmSignUp, CreateUser, ProveEmail, SignUpRecord};
use domain::accounts::{Role, SIGN_UP_TRIES_MAX};
use domain::messages::{Language, MessageKind};
use domain::{Timestamp, UserId};
use serde_json::json;

pub(super) struct FindSignUp(pub(super) UserId);

pub(super) struct ForgetSignUps {
    pub(super) before: Timestamp,
    pub(super) limit: u32,
}

work!(User: AskSignUp => ask, ());
work!(User: ConfirmSignUp => confirm, bool);
work!(User: ProveEmail => prove, bool);
work!(User: FindSignUp => find, Option<SignUpRecord>);
work!(User: ForgetSignUps => forget, u64);

/// The letter is written by the worker, who finds the code here.
async fn ask(tx: &mut dyn Tx, command: &AskSignUp) -> Result<()> {
    let sql = "insert into sign_ups
                 (id, email, email_hash, password_hash, name, phone, phone_hash, taken_by, code,
                  code_hash, language, expires_at, created_at, proves)
               values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)";
    let account = &command.account;
    let values = params![
        account.user,
        account.email.as_slice(),
        account.email_hash,
        &account.password_hash,
        account.name.as_slice(),
        account.phone.clone(),
        account.phone_hash,
        command.taken_by,
        command.code.as_slice(),
        command.code_hash,
        command.language.as_str(),
        command.expires_at,
        account.now,
        command.proves
    ];
    tx.execute(sql, values).await?;
    let (id, addressee) = (account.user, command.taken_by.unwrap_or(account.user));
    let message = Outgoing {
        kind: MessageKind::SignUpAsked,
        // The first message about the account itself is that it was made.
        aggregate: tx.chance().id(account.now),
        seq: 1,
        key: id.uuid(),
        payload: &json!({ "signUpId": id, "userId": addressee }),
    };
    outbox::push(tx, message, account.now).await
}

/// A wrong code is counted, so it is no refusal here: that would undo the counting.
async fn confirm(tx: &mut dyn Tx, command: &ConfirmSignUp) -> Result<bool> {
    let sql = "update sign_ups set n_tries = n_tries + 1
                where id = $1 and n_tries < $2 and $3 < expires_at and taken_by is null
                  and proves is null
               returning code_hash, email, email_hash, password_hash, name, phone, phone_hash";
    let values = params![command.sign_up, i64::from(SIGN_UP_TRIES_MAX), command.now];
    let Some(row) = tx.row(sql, values).await? else { return Ok(false) };
    if row.get::<[u8; 32]>(0)? != command.code_hash {
        return Ok(false);
    }
    create(tx, &account_in(&row, command)?).await?;
    tx.execute("delete from sign_ups where id = $1", params![command.sign_up]).await?;
    Ok(true)
}

/// The same for an account that exists; its address may have changed hands meanwhile.
async fn prove(tx: &mut dyn Tx, command: &ProveEmail) -> Result<bool> {
    let sql = "update sign_ups set n_tries = n_tries + 1
                where id = $1 and n_tries < $2 and $3 < expires_at and proves = $4
               returning code_hash, email_hash";
    let ProveEmail { user, proof, code_hash, now } = *command;
    let values = params![proof, i64::from(SIGN_UP_TRIES_MAX), now, user];
    let Some(row) = tx.row(sql, values).await? else { return Ok(false) };
    if row.get::<[u8; 32]>(0)? != code_hash {
        return Ok(false);
    }
    let sql = "update users set email_proven_at = $3, updated_at = $3
                where id = $1 and email_hash = $2 and status <> 'DELETED'";
    let n_changed = tx.execute(sql, params![user, row.get::<[u8; 32]>(1)?, now]).await?;
    tx.execute("delete from sign_ups where id = $1", params![proof]).await?;
    Ok(n_changed == 1)
}

fn account_in(row: &Row, command: &ConfirmSignUp) -> Result<CreateUser> {
    Ok(CreateUser {
        user: command.sign_up,
        email: row.get(1)?,
        email_hash: row.get(2)?,
        is_email_proven: true,
        password_hash: row.get(3)?,
        name: row.get(4)?,
        phone: row.get(5)?,
        phone_hash: row.get(6)?,
        role: Role::User,
        now: command.now,
    })
}

async fn find(tx: &mut dyn Tx, question: &FindSignUp) -> Result<Option<SignUpRecord>> {
    let sql = "select email, code, language, taken_by from sign_ups where id = $1";
    let read = |row: &Row| {
        Ok(SignUpRecord {
            email: row.get(0)?,
            code: row.get(1)?,
            language: row.parse(2, Language::parse)?,
            is_taken: row.get::<Option<UserId>>(3)?.is_some(),
        })
    };
    tx.row(sql, params![question.0]).await?.as_ref().map(read).transpose()
}

async fn forget(tx: &mut dyn Tx, command: &ForgetSignUps) -> Result<u64> {
    let sql = "delete from sign_ups where id in
                 (select id from sign_ups where expires_at < $1 limit $2)";
    Ok(tx.execute(sql, params![command.before, command.limit]).await?)
}
