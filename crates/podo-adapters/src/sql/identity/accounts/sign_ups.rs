//! Sign-ups that aren't confirmed yet.

use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, params};
use crate::sql::identity::accounts::{FindSignUp, ForgetSignUps, create};
use crate::sql::messaging::outbox;
use crate::sql::messaging::outbox::Outgoing;
use podo_app::identity::port::accounts::{
    ConfirmSignUp, CreateUser, PendingPurpose, ProveEmail, RequestSignUp, SignUpRecord,
};
use podo_app::{Error, Result};
use podo_domain::UserId;
use podo_domain::identity::{Role, SIGN_UP_TRIES_MAX};
use podo_domain::messaging::messages::{Language, MessageKind};
use serde_json::json;

/// The worker writes the notification and finds the code here.
pub(crate) async fn ask(tx: &mut dyn Tx, command: &RequestSignUp) -> Result<()> {
    let sql = "insert into sign_ups
                 (id, email, email_hash, password_hash, name, phone, phone_hash, taken_by, code,
                  code_hash, language, expires_at, created_at, proves, purpose, consents)
               values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)";
    let account = &command.account;
    let consents = serde_json::to_string(&account.consents).map_err(Error::broken)?;
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
        command.proves,
        command.purpose.as_str(),
        consents
    ];
    tx.execute(sql, values).await?;
    let (id, addressee) = (account.user, command.taken_by.unwrap_or(account.user));
    let message = Outgoing {
        kind: MessageKind::SignUpAsked,
        // The account's first message must be its creation, so this one has another aggregate.
        aggregate: tx.rng().id(account.now),
        seq: 1,
        key: id.uuid(),
        payload: &json!({ "signUpId": id, "userId": addressee }),
    };
    outbox::push(tx, message, account.now).await
}

/// A wrong code is counted, so it isn't a refusal here: that would roll back the count.
pub(super) async fn confirm(tx: &mut dyn Tx, command: &ConfirmSignUp) -> Result<bool> {
    let sql = "update sign_ups set n_tries = n_tries + 1
                where id = $1 and n_tries < $2 and $3 < expires_at and taken_by is null
                  and proves is null and purpose is null
               returning code_hash, email, email_hash, password_hash, name, phone, phone_hash,
                         consents";
    let values = params![command.sign_up, i64::from(SIGN_UP_TRIES_MAX), command.now];
    let Some(row) = tx.row(sql, values).await? else { return Ok(false) };
    if row.get::<[u8; 32]>("code_hash")? != command.code_hash {
        return Ok(false);
    }
    create(tx, &account_in(&row, command)?).await?;
    tx.execute("delete from sign_ups where id = $1", params![command.sign_up]).await?;
    Ok(true)
}

/// Like `confirm`, for an existing account; its address may have changed owners meanwhile.
pub(super) async fn prove(tx: &mut dyn Tx, command: &ProveEmail) -> Result<bool> {
    let sql = "update sign_ups set n_tries = n_tries + 1
                where id = $1 and n_tries < $2 and $3 < expires_at and proves = $4
                  and purpose is null
               returning code_hash, email_hash";
    let ProveEmail { user, proof, code_hash, now } = *command;
    let values = params![proof, i64::from(SIGN_UP_TRIES_MAX), now, user];
    let Some(row) = tx.row(sql, values).await? else { return Ok(false) };
    if row.get::<[u8; 32]>("code_hash")? != code_hash {
        return Ok(false);
    }
    let sql = "update users set email_proven_at = $3, updated_at = $3
                where id = $1 and email_hash = $2 and status <> 'DELETED'";
    let n_changed = tx.execute(sql, params![user, row.get::<[u8; 32]>("email_hash")?, now]).await?;
    tx.execute("delete from sign_ups where id = $1", params![proof]).await?;
    Ok(n_changed == 1)
}

fn account_in(row: &Row, command: &ConfirmSignUp) -> Result<CreateUser> {
    // The previous version stores none.
    let consents: Option<String> = row.get("consents")?;
    Ok(CreateUser {
        user: command.sign_up,
        email: row.get("email")?,
        email_hash: row.get("email_hash")?,
        is_email_proven: true,
        password_hash: row.get("password_hash")?,
        name: row.get("name")?,
        phone: row.get("phone")?,
        phone_hash: row.get("phone_hash")?,
        role: Role::User,
        consents: serde_json::from_str(consents.as_deref().unwrap_or("[]"))
            .map_err(Error::broken)?,
        now: command.now,
    })
}

pub(super) async fn find(tx: &mut dyn Tx, question: &FindSignUp) -> Result<Option<SignUpRecord>> {
    let sql = "select email, code, language, taken_by, proves, purpose from sign_ups where id = $1";
    let read = |row: &Row| {
        Ok(SignUpRecord {
            email: row.get("email")?,
            code: row.get("code")?,
            language: row.parse("language", Language::parse)?,
            purpose: read_purpose(row)?,
            is_taken: row.get::<Option<UserId>>("taken_by")?.is_some(),
            proves: row.get("proves")?,
        })
    };
    tx.row(sql, params![question.sign_up]).await?.as_ref().map(read).transpose()
}

fn read_purpose(row: &Row) -> Result<PendingPurpose> {
    let name: Option<String> = row.get("purpose")?;
    PendingPurpose::parse(name.as_deref()).ok_or_else(|| Error::Broken("an unknown purpose".into()))
}

pub(super) async fn forget(tx: &mut dyn Tx, command: &ForgetSignUps) -> Result<u64> {
    let sql = "delete from sign_ups where id in
                 (select id from sign_ups where expires_at < $1 limit $2)";
    let n_forgotten = tx.execute(sql, params![command.before, command.limit]).await?;
    let orphans = "delete from invitations where not exists
                     (select 1 from sign_ups s where s.id = invitations.id)";
    tx.execute(orphans, &[]).await?;
    Ok(n_forgotten)
}
