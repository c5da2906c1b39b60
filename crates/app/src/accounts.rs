//! Logging in, staying logged in, logging out.

mod budgets;
mod email_proof;
mod identity;
mod links;
mod profile;
mod proof;
mod second_factor;
mod sign_up;
mod social;

pub use budgets::DEVICE_KNOWN_FOR;
pub use email_proof::{EmailProofAsked, ask_email_proof, prove_email};
pub use identity::{IdentityStart, Proven, prove_identity, require_identity, start_identity};
pub use links::{links, start_link, unlink};
pub use profile::{
    ProfileChange, change_password, change_profile, end_session, logins, me, recall_ended_sessions,
    sessions, withdraw,
};

pub use proof::{prove_again, require_proof};
pub use second_factor::{
    TotpStart, change_role, confirm_totp, remove_totp, reset_totp, start_totp,
};
pub use sign_up::{SignedUp, confirm_sign_up, create_admin, sign_up};
pub use social::{
    SOCIAL_WITHIN, SocialEnd, SocialReturn, SocialStart, finish_social, start_social,
};

use crate::error::{Error, Result};
use crate::platform::Platform;
use crate::ports::accounts::{
    CreateUser, LoginAttempt, RotateRefresh, Rotation, StartSession, UserRecord,
};
use crate::ports::passwords::Verdict;
use crate::seals::sha256;
use crate::sessions::Caller;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use budgets::Device;
use domain::accounts::{
    ACCESS_TOKEN_LENGTH, Email, NewPassword, Phone, REFRESH_TOKEN_LENGTH, Role,
};
use domain::text::Line;
use domain::{LoginId, Refusal, SessionId, Timestamp, UserId};
use second_factor::{check_code, role_of};
use serde::Serialize;
use std::time::Duration;
use utoipa::ToSchema;

#[derive(Clone, Debug)]
pub struct SignUp {
    pub email: Email,
    pub password: NewPassword,
    pub name: Line<50>,
    pub phone: Option<Phone>,
    pub role: Role,
}

/// A person as they see themselves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserView {
    pub id: UserId,
    pub email: String,
    /// Whether the person showed that the address is theirs. Tickets that are offered to the address
    /// reach only who did.
    pub email_verified: bool,
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phone: Option<String>,
    pub role: Role,
    /// Whether the person proved who they are.
    pub identity_verified: bool,
    /// Whether a log-in needs a code.
    pub second_factor: bool,
    pub created_at: Timestamp,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoggedIn {
    pub access_token: String,
    /// Seconds until the access token ends.
    pub expires_in: u64,
    pub refresh_token: String,
    pub user: UserView,
    /// For the browser's cookie: a later log-in from this device has tries of its own.
    #[serde(skip)]
    #[schema(ignore)]
    pub device: Option<String>,
}

/// Where a log-in came from.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    pub ip: Option<String>,
    /// What counts as one place: the address, or more of it than one person has.
    pub network: Option<String>,
    pub agent: Option<String>,
    /// What the browser's cookie says of the device.
    pub device: Option<String>,
}

/// The row of a new account, with its personal fields sealed. Its address is not proven.
pub fn new_user(
    platform: &Platform,
    asked: &SignUp,
    password_hash: String,
    now: Timestamp,
) -> CreateUser {
    let user = UserId::new(platform.chance.id(now));
    let seal = |column: &str, value: &str| {
        platform.seals.seal(&field(column, user), value, &*platform.chance)
    };
    CreateUser {
        user,
        email: seal("email", asked.email.as_str()),
        email_hash: platform.seals.lookup("email", asked.email.as_str()),
        is_email_proven: false,
        password_hash,
        name: seal("name", asked.name.as_str()),
        phone: asked.phone.as_ref().map(|phone| seal("phone", phone.as_str())),
        phone_hash: asked.phone.as_ref().map(|it| platform.seals.lookup("phone", it.as_str())),
        role: asked.role,
        now,
    }
}

/// Which table, column and row a sealed value belongs to.
pub(crate) fn field(column: &str, user: UserId) -> String {
    format!("users.{column}.{user}")
}

/// What somebody who logs in says.
pub struct Credentials {
    pub email: Email,
    pub password: String,
    /// Of the second factor, if the account has one.
    pub code: Option<String>,
}

/// The same answer for an unknown address and a wrong password, after the same work.
pub async fn log_in(platform: &Platform, given: Credentials, origin: Origin) -> Result<LoggedIn> {
    let Credentials { email, password, code } = given;
    let email_hash = platform.seals.lookup("email", email.as_str());
    let budget = budgets::take(platform, email_hash, &origin).await?;
    let found = platform.store.user_by_email(email_hash).await?;
    let hash = found.as_ref().and_then(UserRecord::known_hash);
    let verdict = platform.passwords.verify(password.clone(), hash).await?;
    let is_right = verdict != Verdict::Wrong;
    let now = platform.now();
    let mut attempt = LoginAttempt {
        login: LoginId::new(platform.chance.id(now)),
        user: found.as_ref().map(|user| user.user),
        email_hash,
        network: origin.network.clone(),
        ip: origin.ip.clone(),
        agent: origin.agent.clone(),
        budget: budget.name(),
        method: "EMAIL",
        success: is_right,
        reason: None,
        now,
    };
    match found {
        Some(user) if is_right => {
            if verdict == Verdict::RightButOld {
                let new = platform.passwords.hash(password).await?;
                let known = user.password_hash.clone();
                platform.store.renew_hash(user.user, (known, new), now).await?;
            }
            if let Err(error) = check_code(platform, &user, code.as_deref(), now).await {
                if matches!(error, Error::Refused(Refusal::CodeWrong)) {
                    attempt.success = false;
                    attempt.reason = Some("CODE");
                    platform.store.record_failed_login(attempt).await?;
                }
                return Err(error);
            }
            let device =
                Device::of(platform, email_hash, &origin).unwrap_or_else(|| Device::new(platform));
            let mut logged_in = start_session(platform, user, attempt).await?;
            logged_in.device = Some(device.token(platform, email_hash));
            Ok(logged_in)
        }
        Some(_) | None => {
            attempt.success = false;
            attempt.reason = Some(if attempt.user.is_some() { "PASSWORD" } else { "UNKNOWN" });
            platform.store.record_failed_login(attempt).await?;
            Err(Refusal::LoginFailed.into())
        }
    }
}

async fn start_session(
    platform: &Platform,
    user: UserRecord,
    attempt: LoginAttempt,
) -> Result<LoggedIn> {
    let now = attempt.now;
    let session = SessionId::new(platform.chance.id(now));
    let (refresh_token, refresh_hash) = new_refresh_token(platform);
    let command = StartSession {
        session,
        user: user.user,
        refresh_hash,
        expires_at: now.plus(REFRESH_TOKEN_LENGTH),
        attempt,
    };
    platform.store.start_session(command).await?;
    logged_in(platform, &user, session, refresh_token, now)
}

/// 256 random bits for the client; only their hash is stored.
fn new_refresh_token(platform: &Platform) -> (String, [u8; 32]) {
    let token = URL_SAFE_NO_PAD.encode(platform.chance.secret());
    let hash = sha256(token.as_bytes());
    (token, hash)
}

fn logged_in(
    platform: &Platform,
    user: &UserRecord,
    session: SessionId,
    refresh_token: String,
    now: Timestamp,
) -> Result<LoggedIn> {
    let caller = Caller { user: user.user, session, role: role_of(platform, user) };
    let length = access_length(platform, user.role);
    let jti = platform.chance.id(now);
    Ok(LoggedIn {
        access_token: platform.sessions.issue_for(caller, jti, now, length),
        expires_in: length.as_secs(),
        refresh_token,
        user: view(platform, user)?,
        device: None,
    })
}

/// An organiser's token ends early, so that who is away for too long finds the next one refused: three
/// of them fit into the time that an organiser may do nothing.
pub fn access_length(platform: &Platform, role: Role) -> Duration {
    match platform.rules.admin_idle {
        Some(idle) if role.is_organiser() => ACCESS_TOKEN_LENGTH.min(idle / 3),
        Some(_) | None => ACCESS_TOKEN_LENGTH,
    }
}

/// When the session of a token is over unless the token is renewed: an organiser may do nothing for a
/// while, a fan for as long as the refresh token lives.
pub fn session_ends_at(platform: &Platform, role: Role, token_ends_at: Timestamp) -> Timestamp {
    let issued_at = token_ends_at.minus(access_length(platform, role));
    match platform.rules.admin_idle {
        Some(idle) if role.is_organiser() => issued_at.plus(idle),
        Some(_) | None => issued_at.plus(REFRESH_TOKEN_LENGTH),
    }
}

/// Opens a sealed field of somebody's account.
pub(crate) fn open(
    platform: &Platform,
    column: &str,
    user: UserId,
    sealed: &[u8],
) -> Result<String> {
    platform.seals.open(&field(column, user), sealed)
}

/// Somebody's account, for organisers; nothing when it was given up.
pub(crate) async fn user_view(platform: &Platform, user: UserId) -> Result<Option<UserView>> {
    let found = platform.store.user(user).await?;
    found.map(|user| view(platform, &user)).transpose()
}

fn view(platform: &Platform, user: &UserRecord) -> Result<UserView> {
    let open = |column: &str, sealed: &[u8]| open(platform, column, user.user, sealed);
    Ok(UserView {
        id: user.user,
        email: open("email", &user.email)?,
        email_verified: user.is_email_proven,
        name: open("name", &user.name)?,
        phone: user.phone.as_ref().map(|phone| open("phone", phone)).transpose()?,
        role: user.role,
        identity_verified: user.is_verified,
        second_factor: user.has_second_factor(),
        created_at: user.created_at,
    })
}

/// Spends a refresh token for the next one. A token that was spent before means that somebody
/// has a copy: the whole family ends.
pub async fn refresh(platform: &Platform, spent: &str) -> Result<LoggedIn> {
    let now = platform.now();
    let (refresh_token, next_hash) = new_refresh_token(platform);
    let command = RotateRefresh {
        spent_hash: sha256(spent.as_bytes()),
        next_hash,
        expires_at: now.plus(REFRESH_TOKEN_LENGTH),
        organisers_idle_max: platform.rules.admin_idle,
        now,
    };
    match platform.store.rotate_refresh(command).await? {
        Rotation::Rotated { user, session } => {
            logged_in(platform, &user, session, refresh_token, now)
        }
        Rotation::Invalid => Err(Refusal::RefreshInvalid.into()),
        Rotation::Retry => Err(Refusal::RefreshRetry.into()),
        Rotation::Idle { session } => {
            platform.revocations.revoke(session, now.plus(ACCESS_TOKEN_LENGTH)).await?;
            Err(Refusal::SessionIdle.into())
        }
        Rotation::Reused { session } => {
            platform.revocations.revoke(session, now.plus(ACCESS_TOKEN_LENGTH)).await?;
            Err(Refusal::RefreshReused.into())
        }
    }
}

pub async fn log_out(platform: &Platform, caller: Caller) -> Result<()> {
    let now = platform.now();
    platform.store.end_session(caller.session, now).await?;
    platform.revocations.revoke(caller.session, now.plus(ACCESS_TOKEN_LENGTH)).await
}

/// Who is asking: a live access token of a session that has not ended.
pub async fn authenticate(platform: &Platform, token: &str, now: Timestamp) -> Result<Caller> {
    authenticate_until(platform, token, now).await.map(|(caller, _)| caller)
}

/// The same, and when the token ends.
pub async fn authenticate_until(
    platform: &Platform,
    token: &str,
    now: Timestamp,
) -> Result<(Caller, Timestamp)> {
    let found = platform.sessions.check_until(token, now).ok_or(Refusal::LoginRequired)?;
    if platform.revocations.is_revoked(found.0.session, now).await? {
        return Err(Refusal::LoginRequired.into());
    }
    Ok(found)
}
