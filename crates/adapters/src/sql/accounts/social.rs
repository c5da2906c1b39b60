//! Accounts at other services that log in to one of ours.

use super::{create, read_user};
use crate::sql::tx::{Tx, work};
use crate::sql::value::params;
use app::Result;
use app::ports::accounts::{CreateSocialUser, SocialAccount, UserRecord};
use domain::UserId;

work!(User: SocialAccount => find, Option<UserRecord>);
work!(User: CreateSocialUser => create_user, ());

async fn find(tx: &mut dyn Tx, account: &SocialAccount) -> Result<Option<UserRecord>> {
    let sql = "select u.id, u.email, u.name, u.phone, u.password_hash, u.role, u.created_at,
                      u.verified_at, u.reads_only, u.totp_secret, u.totp_since
                 from social_accounts s join users u on u.id = s.user_id
                where s.provider = $1 and s.subject_hash = $2 and u.status <> 'DELETED'";
    let values = params![account.provider.as_str(), account.subject_hash];
    tx.row(sql, values).await?.as_ref().map(read_user).transpose()
}

async fn create_user(tx: &mut dyn Tx, command: &CreateSocialUser) -> Result<()> {
    create(tx, &command.user).await?;
    let sql = "insert into social_accounts (provider, subject_hash, user_id, created_at)
               values ($1, $2, $3, $4)";
    let account = command.account;
    let (user, now) = (command.user.user, command.user.now);
    let values = params![account.provider.as_str(), account.subject_hash, user, now];
    tx.execute(sql, values).await?;
    Ok(())
}

/// Whoever withdrew starts anew when they come back.
pub(super) async fn forget(tx: &mut dyn Tx, user: UserId) -> Result<()> {
    tx.execute("delete from social_accounts where user_id = $1", params![user]).await?;
    Ok(())
}
