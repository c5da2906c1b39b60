//! Social log-ins linked to an account.

use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, params};
use crate::sql::identity::accounts::{SocialOf, Unlink, create, read_user};
use podo_app::Result;
use podo_app::identity::port::accounts::{
    CreateSocialUser, LinkSocial, LinkedView, SocialAccount, UserRecord,
};
use podo_domain::identity::SocialProvider;
use podo_domain::{Refusal, Timestamp, UserId};
use uuid::Uuid;

pub(super) async fn find(tx: &mut dyn Tx, account: &SocialAccount) -> Result<Option<UserRecord>> {
    let sql = "select u.id, u.email, u.name, u.phone, u.password_hash, u.role, u.created_at,
                      u.verified_at, u.reads_only, u.totp_secret, u.totp_since,
                      u.email_proven_at
                 from social_accounts s join users u on u.id = s.user_id
                where s.provider = $1 and s.subject_hash = $2 and u.status <> 'DELETED'";
    let values = params![account.provider.as_str(), account.subject_hash];
    tx.row(sql, values).await?.as_ref().map(read_user).transpose()
}

pub(super) async fn create_user(tx: &mut dyn Tx, command: &CreateSocialUser) -> Result<()> {
    create(tx, &command.user).await?;
    insert(tx, command.account, command.user.user, command.user.now).await
}

async fn insert(
    tx: &mut dyn Tx,
    account: SocialAccount,
    user: UserId,
    now: Timestamp,
) -> Result<()> {
    let sql = "insert into social_accounts (provider, subject_hash, user_id, created_at)
               values ($1, $2, $3, $4)";
    let values = params![account.provider.as_str(), account.subject_hash, user, now];
    tx.execute(sql, values).await?;
    Ok(())
}

/// One link per service and account, and one account per social identity.
pub(super) async fn link(tx: &mut dyn Tx, command: &LinkSocial) -> Result<()> {
    let LinkSocial { user, account, now } = *command;
    let half = account.subject_hash.first_chunk::<16>().expect("a hash has 32 bytes");
    tx.lock(Uuid::from_bytes(*half)).await?;
    tx.lock(user.uuid()).await?;
    let sql = "select user_id, subject_hash from social_accounts
                where provider = $1 and (subject_hash = $2 or user_id = $3)";
    let values = params![account.provider.as_str(), account.subject_hash, user];
    let others = tx.query(sql, values).await?;
    let is_same = |row: &Row| -> Result<bool> {
        Ok(row.get::<UserId>("user_id")? == user
            && row.get::<[u8; 32]>("subject_hash")? == account.subject_hash)
    };
    match others.first() {
        None => insert(tx, account, user, now).await,
        Some(row) if is_same(row)? => Ok(()),
        Some(_) => Err(Refusal::SocialTaken.into()),
    }
}

pub(super) async fn list(tx: &mut dyn Tx, question: &SocialOf) -> Result<Vec<LinkedView>> {
    let sql = "select provider, created_at from social_accounts
                where user_id = $1 order by created_at, provider";
    let read = |row: &Row| {
        let provider = row.parse("provider", SocialProvider::parse)?;
        Ok(LinkedView { service: provider.slug(), linked_at: row.get("created_at")? })
    };
    tx.query(sql, params![question.user]).await?.iter().map(read).collect()
}

/// Another way to log in must remain: a password, or another service.
pub(super) async fn unlink(tx: &mut dyn Tx, command: &Unlink) -> Result<bool> {
    tx.lock(command.user.uuid()).await?;
    let sql = "delete from social_accounts where user_id = $1 and provider = $2";
    if tx.execute(sql, params![command.user, command.provider.as_str()]).await? == 0 {
        return Ok(false);
    }
    let left = "select 1 from users where id = $1 and password_hash <> ''
                union all
                select 1 from social_accounts where user_id = $1";
    match tx.query(left, params![command.user]).await?.is_empty() {
        true => Err(Refusal::LastLogin.into()),
        false => Ok(true),
    }
}

/// A person who withdrew starts over when they come back.
pub(crate) async fn forget(tx: &mut dyn Tx, user: UserId) -> Result<()> {
    tx.execute("delete from social_accounts where user_id = $1", params![user]).await?;
    Ok(())
}
