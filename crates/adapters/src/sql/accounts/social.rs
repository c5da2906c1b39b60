//! Accounts at other services that log in to one of ours.

use super::{create, read_user};
use crate::sql::tx::{Tx, work};
use crate::sql::value::{Row, params};
use app::Result;
use app::ports::accounts::{CreateSocialUser, LinkSocial, LinkedView, SocialAccount, UserRecord};
use domain::accounts::SocialProvider;
use domain::{Refusal, Timestamp, UserId};
use uuid::Uuid;

pub(super) struct SocialOf(pub(super) UserId);

pub(super) struct Unlink {
    pub(super) user: UserId,
    pub(super) provider: SocialProvider,
}

work!(User: SocialAccount => find, Option<UserRecord>);
work!(User: CreateSocialUser => create_user, ());
work!(User: LinkSocial => link, ());
work!(User: SocialOf => list, Vec<LinkedView>);
work!(User: Unlink => unlink, bool);

async fn find(tx: &mut dyn Tx, account: &SocialAccount) -> Result<Option<UserRecord>> {
    let sql = "select u.id, u.email, u.name, u.phone, u.password_hash, u.role, u.created_at,
                      u.verified_at, u.reads_only, u.totp_secret, u.totp_since,
                      u.email_proven_at
                 from social_accounts s join users u on u.id = s.user_id
                where s.provider = $1 and s.subject_hash = $2 and u.status <> 'DELETED'";
    let values = params![account.provider.as_str(), account.subject_hash];
    tx.row(sql, values).await?.as_ref().map(read_user).transpose()
}

async fn create_user(tx: &mut dyn Tx, command: &CreateSocialUser) -> Result<()> {
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

/// One account of each service, and each of them with one owner.
async fn link(tx: &mut dyn Tx, command: &LinkSocial) -> Result<()> {
    let LinkSocial { user, account, now } = *command;
    let half = account.subject_hash.first_chunk::<16>().expect("32 bytes have 16");
    tx.lock(Uuid::from_bytes(*half)).await?;
    tx.lock(user.uuid()).await?;
    let sql = "select user_id, subject_hash from social_accounts
                where provider = $1 and (subject_hash = $2 or user_id = $3)";
    let values = params![account.provider.as_str(), account.subject_hash, user];
    let others = tx.query(sql, values).await?;
    let is_same = |row: &Row| -> Result<bool> {
        Ok(row.get::<UserId>(0)? == user && row.get::<[u8; 32]>(1)? == account.subject_hash)
    };
    match others.first() {
        None => insert(tx, account, user, now).await,
        Some(row) if is_same(row)? => Ok(()),
        Some(_) => Err(Refusal::SocialTaken.into()),
    }
}

async fn list(tx: &mut dyn Tx, question: &SocialOf) -> Result<Vec<LinkedView>> {
    let sql = "select provider, created_at from social_accounts
                where user_id = $1 order by created_at, provider";
    let read = |row: &Row| {
        let provider = row.parse(0, SocialProvider::parse)?;
        Ok(LinkedView { service: provider.slug(), linked_at: row.get(1)? })
    };
    tx.query(sql, params![question.0]).await?.iter().map(read).collect()
}

/// What is left must open the account: a password, or another service.
async fn unlink(tx: &mut dyn Tx, command: &Unlink) -> Result<bool> {
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

/// Whoever withdrew starts anew when they come back.
pub(super) async fn forget(tx: &mut dyn Tx, user: UserId) -> Result<()> {
    tx.execute("delete from social_accounts where user_id = $1", params![user]).await?;
    Ok(())
}
