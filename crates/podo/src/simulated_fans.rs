//! Accounts for simulated fans.

use anyhow::{Context, Result};
use podo_app::AppContext;
use podo_app::identity::accounts::{SignUp, new_user};
use podo_app::identity::port::accounts::CreateUser;
use podo_app::identity::port::team::ChangeMembership;
use podo_app::identity::sessions::Caller;
use podo_domain::catalog::text::Line;
use podo_domain::identity::permissions::{Membership, TeamRole};
use podo_domain::identity::{Email, NewPassword, Role};
use podo_domain::{SessionId, Timestamp, UserId};
use podo_load::FanAccount;

/// Accounts created in one transaction. They share one password hash, because hashing deliberately
/// takes 30 ms and these accounts never log in with a password.
const FANS_PER_BATCH: u32 = 500;

/// Creates accounts and their access tokens.
pub(crate) async fn accounts(
    context: &AppContext,
    n_fans: u32,
    progress: impl Fn(u32),
) -> Result<Vec<FanAccount>> {
    let made = people(context, n_fans, Role::User, progress).await?;
    Ok(made.into_iter().map(|(_, account)| account).collect())
}

/// Creates stewards of a gate.
pub(crate) async fn stewards(context: &AppContext, n_stewards: u32) -> Result<Vec<FanAccount>> {
    let made = people(context, n_stewards, Role::Staff, |_| {}).await?;
    for (user, _) in &made {
        let command = ChangeMembership {
            actor: *user,
            by: Membership::preset(TeamRole::Owner).grant,
            user: *user,
            membership: Some(Membership::preset(TeamRole::Gate)),
            now: context.now(),
        };
        context.store.change_membership(command).await?;
    }
    Ok(made.into_iter().map(|(_, account)| account).collect())
}

/// An organiser who may do everything.
pub(crate) async fn organiser(context: &AppContext) -> Result<FanAccount> {
    let made = people(context, 1, Role::Admin, |_| {}).await?;
    made.into_iter().next().map(|(_, account)| account).context("one account was made")
}

async fn people(
    context: &AppContext,
    n_fans: u32,
    role: Role,
    progress: impl Fn(u32),
) -> Result<Vec<(UserId, FanAccount)>> {
    let secret = context.rng.id(context.now()).to_string();
    let hash = context.identity.passwords.hash(secret.clone()).await?;
    let run = context.rng.number();
    let mut made = Vec::with_capacity(n_fans as usize);
    for first in (0..n_fans).step_by(FANS_PER_BATCH as usize) {
        let now = context.now();
        let batch = (first..n_fans.min(first + FANS_PER_BATCH)).map(|number| {
            let asked = SignUp {
                email: Email::try_from(format!("fan{number}.{run:016x}@podo.example"))?,
                password: NewPassword::try_from(secret.clone())?,
                name: Line::try_from(format!("Fan {number}"))?,
                phone: None,
                role,
            };
            let user = new_user(context, &asked, hash.clone(), now);
            // The addresses are made up here, so they need no proof.
            Ok(CreateUser { is_email_proven: true, ..user })
        });
        let batch: Vec<_> = batch.collect::<Result<_>>()?;
        made.extend(batch.iter().map(|fan| (fan.user, account(context, fan.user, role, now))));
        context.store.create_users(batch).await?;
        progress(u32::try_from(made.len()).unwrap_or(u32::MAX));
    }
    Ok(made)
}

fn account(context: &AppContext, user: UserId, role: Role, now: Timestamp) -> FanAccount {
    let session = SessionId::new(context.rng.id(now));
    let caller = Caller { user, session, role };
    FanAccount { access_token: context.identity.sessions.issue(caller, context.rng.id(now), now) }
}
