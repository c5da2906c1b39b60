//! The second factor of an account. It can be mandatory for organisers.

use crate::context::AppContext;
use crate::error::{Error, Result};
use crate::identity::accounts::field;
use crate::identity::accounts::profile::{prove, revoke_all, user_of};
use crate::identity::port::accounts::{ChangeTotp, TotpChange, UserRecord};
use crate::identity::sessions::Caller;
use crate::identity::totp;
use podo_domain::identity::Role;
use podo_domain::{Refusal, Timestamp, UserId};
use serde::Serialize;
use utoipa::ToSchema;

/// What an authenticator app needs. Shown once.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TotpStart {
    /// To type in.
    pub secret: String,
    /// The same, for a QR code.
    pub uri: String,
}

/// Creates a secret; it becomes active when [`confirm_totp`] sees the first code.
pub async fn start_totp(
    context: &AppContext,
    caller: Caller,
    password: String,
) -> Result<TotpStart> {
    let user = prove(context, caller, password).await?;
    let mut bytes = [0; totp::SECRET_BYTES];
    context.rng.fill(&mut bytes);
    let secret = totp::base32(&bytes);
    let place = field("totp", caller.user);
    let encrypted = context.keyring.encrypt(&place, &secret, &*context.rng);
    change(context, caller.user, TotpChange::Begin { secret: encrypted }, Refusal::CodeOn).await?;
    let address = context.keyring.decrypt(&field("email", user.user), &user.email)?;
    let uri = format!("otpauth://totp/Podo:{address}?secret={secret}&issuer=Podo");
    Ok(TotpStart { secret, uri })
}

/// The first code proves that the app has the secret. All other sessions end, because they had no
/// second factor.
pub async fn confirm_totp(context: &AppContext, caller: Caller, code: &str) -> Result<()> {
    context.take(&format!("code:{}", caller.user), CODE_TRIES, CODE_TRIES_PER).await?;
    let user = user_of(context, caller).await?;
    let step = step_of(context, &user, code, context.now())?;
    let keep = caller.session;
    change(context, caller.user, TotpChange::Confirm { step, keep }, Refusal::CodeWrong).await
}

/// Requires the password and a code, so that one of them alone can't remove the other.
pub async fn remove_totp(
    context: &AppContext,
    caller: Caller,
    password: String,
    code: &str,
) -> Result<()> {
    let user = prove(context, caller, password).await?;
    let step = step_of(context, &user, code, context.now())?;
    change(context, caller.user, TotpChange::Remove { step }, Refusal::CodeWrong).await
}

/// Code attempts of a logged-in person.
const CODE_TRIES: u32 = 10;
const CODE_TRIES_PER: std::time::Duration = std::time::Duration::from_secs(15 * 60);

/// Requires the code of a log-in, if the account has a second factor. Each code works once.
pub(crate) async fn check_code(
    context: &AppContext,
    user: &UserRecord,
    code: Option<&str>,
    now: Timestamp,
) -> Result<()> {
    if !user.has_second_factor() {
        return Ok(());
    }
    let code = code.ok_or(Refusal::CodeRequired)?;
    let step = step_of(context, user, code, now)?;
    change(context, user.user, TotpChange::Use { step }, Refusal::CodeWrong).await
}

/// The same for a logged-in person.
pub(crate) async fn prove_by_code(
    context: &AppContext,
    user: &UserRecord,
    code: Option<&str>,
) -> Result<()> {
    context.take(&format!("code:{}", user.user), CODE_TRIES, CODE_TRIES_PER).await?;
    check_code(context, user, code, context.now()).await
}

fn step_of(context: &AppContext, user: &UserRecord, code: &str, now: Timestamp) -> Result<i64> {
    let encrypted = user.totp.as_ref().ok_or(Refusal::CodeWrong)?;
    let secret = context.keyring.decrypt(&field("totp", user.user), &encrypted.secret)?;
    let secret = totp::from_base32(&secret)
        .ok_or_else(|| Error::Broken(format!("the second factor of {} is invalid", user.user)))?;
    Ok(totp::step_of(&secret, code, now).ok_or(Refusal::CodeWrong)?)
}

async fn change(context: &AppContext, user: UserId, change: TotpChange, or: Refusal) -> Result<()> {
    let now = context.now();
    match context.store.change_totp(ChangeTotp { user, change, now }).await? {
        Some(ended) => revoke_all(context, &ended, now).await,
        None => Err(or.into()),
    }
}

/// The effective role of a session. If organisers must have a second factor, one without it has a
/// fan's role.
pub(crate) fn role_of(context: &AppContext, user: &UserRecord) -> Role {
    match user.role {
        Role::User => Role::User,
        Role::Staff | Role::Admin
            if context.rules.admins_need_code && !user.has_second_factor() =>
        {
            Role::User
        }
        Role::Staff | Role::Admin => user.role,
    }
}

/// Removes the second factor of an account whose owner lost their device. For operators.
pub async fn reset_totp(context: &AppContext, user: UserId) -> Result<()> {
    change(context, user, TotpChange::Reset, Refusal::NotFound).await
}
