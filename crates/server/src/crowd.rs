//! Accounts for simulated fans.

use anyhow::Result;
use app::Platform;
use app::accounts::{SignUp, new_user};
use app::ports::accounts::CreateUser;
use app::sessions::Caller;
use domain::accounts::{Email, NewPassword, Role};
use domain::text::Line;
use domain::{SessionId, Timestamp, UserId};
use load::FanAccount;

/// Fans made in one transaction: one password hash serves all of them, because hashing takes 30 ms
/// on purpose and nobody ever logs in with these.
const FANS_PER_BATCH: u32 = 500;

/// Makes accounts and their access tokens.
pub(crate) async fn accounts(
    platform: &Platform,
    n_fans: u32,
    progress: impl Fn(u32),
) -> Result<Vec<FanAccount>> {
    let secret = platform.chance.id(platform.now()).to_string();
    let hash = platform.passwords.hash(secret.clone()).await?;
    let run = platform.chance.number();
    let mut made = Vec::with_capacity(n_fans as usize);
    for first in (0..n_fans).step_by(FANS_PER_BATCH as usize) {
        let now = platform.now();
        let batch = (first..n_fans.min(first + FANS_PER_BATCH)).map(|number| {
            let asked = SignUp {
                email: Email::try_from(format!("fan{number}.{run:016x}@podo.example"))?,
                password: NewPassword::try_from(secret.clone())?,
                name: Line::try_from(format!("Fan {number}"))?,
                phone: None,
                role: Role::User,
            };
            let user = new_user(platform, &asked, hash.clone(), now);
            // These addresses are ours.
            Ok(CreateUser { is_email_proven: true, ..user })
        });
        let batch: Vec<_> = batch.collect::<Result<_>>()?;
        made.extend(batch.iter().map(|fan| account(platform, fan.user, now)));
        platform.store.create_users(batch).await?;
        progress(u32::try_from(made.len()).unwrap_or(u32::MAX));
    }
    Ok(made)
}

fn account(platform: &Platform, user: UserId, now: Timestamp) -> FanAccount {
    let session = SessionId::new(platform.chance.id(now));
    let caller = Caller { user, session, role: Role::User };
    FanAccount { access_token: platform.sessions.issue(caller, platform.chance.id(now), now) }
}
