//! The second factor of an account. Organisers can be made to have one.

use super::field;
use super::profile::{prove, revoke_all, user_of};
use crate::error::{Error, Result};
use crate::platform::Platform;
use crate::ports::accounts::{ChangeRole, ChangeTotp, TotpChange, UserRecord};
use crate::sessions::Caller;
use crate::totp;
use domain::accounts::Role;
use domain::{Refusal, Timestamp, UserId};
use serde::Serialize;
use utoipa::ToSchema;

/// What an authenticator app needs. Shown once.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TotpStart {
    /// To be typed in.
    pub secret: String,
    /// The same as a QR code holds it.
    pub uri: String,
}

/// Makes a secret; it counts from the first code on that [`confirm_totp`] sees.
pub async fn start_totp(
    platform: &Platform,
    caller: Caller,
    password: String,
) -> Result<TotpStart> {
    let user = prove(platform, caller, password).await?;
    let mut bytes = [0; totp::SECRET_BYTES];
    platform.chance.fill(&mut bytes);
    let secret = totp::base32(&bytes);
    let place = field("totp", caller.user);
    let sealed = platform.seals.seal(&place, &secret, &*platform.chance);
    change(platform, caller.user, TotpChange::Begin { secret: sealed }, Refusal::CodeOn).await?;
    let address = platform.seals.open(&field("email", user.user), &user.email)?;
    let uri = format!("otpauth://totp/Podo:{address}?secret={secret}&issuer=Podo");
    Ok(TotpStart { secret, uri })
}

/// The first code proves that the app has the secret. All other sessions end: they had no second
/// factor.
pub async fn confirm_totp(platform: &Platform, caller: Caller, code: &str) -> Result<()> {
    platform.take(&format!("code:{}", caller.user), CODE_TRIES, CODE_TRIES_PER).await?;
    let user = user_of(platform, caller).await?;
    let step = step_of(platform, &user, code, platform.now())?;
    let keep = caller.session;
    change(platform, caller.user, TotpChange::Confirm { step, keep }, Refusal::CodeWrong).await
}

/// Needs the password and a code: whoever has one of them only must not get at the other.
pub async fn remove_totp(
    platform: &Platform,
    caller: Caller,
    password: String,
    code: &str,
) -> Result<()> {
    let user = prove(platform, caller, password).await?;
    let step = step_of(platform, &user, code, platform.now())?;
    change(platform, caller.user, TotpChange::Remove { step }, Refusal::CodeWrong).await
}

/// Tries of a code by somebody who is logged in.
const CODE_TRIES: u32 = 10;
const CODE_TRIES_PER: std::time::Duration = std::time::Duration::from_secs(15 * 60);

/// Asks for the code of a log-in, if the account has a second factor. A code counts once.
pub(super) async fn check_code(
    platform: &Platform,
    user: &UserRecord,
    code: Option<&str>,
    now: Timestamp,
) -> Result<()> {
    if !user.has_second_factor() {
        return Ok(());
    }
    let code = code.ok_or(Refusal::CodeRequired)?;
    let step = step_of(platform, user, code, now)?;
    change(platform, user.user, TotpChange::Use { step }, Refusal::CodeWrong).await
}

/// The same for somebody who is logged in.
pub(super) async fn prove_by_code(
    platform: &Platform,
    user: &UserRecord,
    code: Option<&str>,
) -> Result<()> {
    platform.take(&format!("code:{}", user.user), CODE_TRIES, CODE_TRIES_PER).await?;
    check_code(platform, user, code, platform.now()).await
}

fn step_of(platform: &Platform, user: &UserRecord, code: &str, now: Timestamp) -> Result<i64> {
    let sealed = user.totp.as_ref().ok_or(Refusal::CodeWrong)?;
    let secret = platform.seals.open(&field("totp", user.user), &sealed.secret)?;
    let secret = totp::from_base32(&secret)
        .ok_or_else(|| Error::Broken(format!("the second factor of {} is none", user.user)))?;
    Ok(totp::step_of(&secret, code, now).ok_or(Refusal::CodeWrong)?)
}

async fn change(platform: &Platform, user: UserId, change: TotpChange, or: Refusal) -> Result<()> {
    let now = platform.now();
    match platform.store.change_totp(ChangeTotp { user, change, now }).await? {
        Some(ended) => revoke_all(platform, &ended, now).await,
        None => Err(or.into()),
    }
}

/// What a session may do. Where organisers must have a second factor, one without is a fan's.
pub(super) fn role_of(platform: &Platform, user: &UserRecord) -> Role {
    match user.role {
        Role::User => Role::User,
        Role::Staff | Role::Admin
            if platform.rules.admins_need_code && !user.has_second_factor() =>
        {
            Role::User
        }
        Role::Staff | Role::Admin => user.role,
    }
}

/// Gives somebody another role; never oneself, so that the last organiser stays one.
pub async fn change_role(
    platform: &Platform,
    actor: UserId,
    user: UserId,
    role: Role,
) -> Result<()> {
    if actor == user {
        return Err(Refusal::OwnRole.into());
    }
    let now = platform.now();
    let ended = platform.store.change_role(ChangeRole { actor, user, role, now }).await?;
    revoke_all(platform, &ended, now).await
}

/// Takes the second factor from an account whose owner lost their device. For operators.
pub async fn reset_totp(platform: &Platform, user: UserId) -> Result<()> {
    change(platform, user, TotpChange::Reset, Refusal::NotFound).await
}
