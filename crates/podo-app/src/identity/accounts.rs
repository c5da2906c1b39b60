//! Log-in, token refresh and log-out.

mod budgets;
mod email_proof;
mod identity;
mod links;
pub(crate) mod mailed_links;
mod person;
mod profile;
mod proof;
mod recovery;
mod second_factor;
mod sign_up;
mod social;

pub use budgets::DEVICE_KNOWN_FOR;
pub use email_proof::{EmailProofAsked, ask_email_proof, prove_email};
pub use identity::{
    IdentityCache, IdentityStart, identity_hash, prove_identity, require_identity, start_identity,
};
pub use links::{links, start_link, unlink};
pub use person::PersonHint;
pub(crate) use person::{KnownPerson, hints, people_behind, people_of};
pub use profile::{
    ProfileChange, change_password, change_profile, end_session, logins, me, recall_ended_sessions,
    sessions, withdraw,
};

pub(crate) use profile::revoke_all;
pub use proof::{prove_again, require_proof};
pub use recovery::{
    EmailChangeAsked, ask_email_change, ask_reset, confirm_email_change, reset_password,
};
pub use second_factor::{TotpStart, confirm_totp, remove_totp, reset_totp, start_totp};
pub use sign_up::{SignedUp, confirm_sign_up, create_admin, sign_up};
pub(crate) use sign_up::{join_with_proven_email, short_hash};
pub use social::{
    SOCIAL_WITHIN, SocialEnd, SocialReturn, SocialStart, finish_social, start_social,
};

use crate::context::AppContext;
use crate::error::{Error, Result};
use crate::identity::keyring::sha256;
use crate::identity::port::accounts::{
    CreateUser, LoginAttempt, RenewHash, RotateRefresh, Rotation, StartSession, UserRecord,
};
use crate::identity::port::passwords::Verdict;
use crate::identity::sessions::Caller;
use crate::identity::team::GrantView;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use budgets::Device;
use podo_domain::catalog::text::Line;
use podo_domain::identity::{
    ACCESS_TOKEN_LENGTH, Email, NewPassword, Phone, REFRESH_TOKEN_LENGTH, Role,
};
use podo_domain::{LoginId, Refusal, SessionId, Timestamp, UserId};
use second_factor::{check_code, role_of};
use serde::Serialize;
use std::collections::HashMap;
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

/// A person as they see their own account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserView {
    pub id: UserId,
    pub email: String,
    /// Whether the person has proved that they own the address. Tickets offered to the address
    /// reach only its proven owner.
    pub email_verified: bool,
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phone: Option<String>,
    pub role: Role,
    /// What an organiser may do; absent for fans.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub team: Option<GrantView>,
    /// Whether the person has verified their identity.
    pub identity_verified: bool,
    /// Whether a log-in requires a code.
    pub second_factor: bool,
    /// Whether the account has a password; one of another service may set it.
    pub has_password: bool,
    pub created_at: Timestamp,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoggedIn {
    pub access_token: String,
    /// Seconds until the access token expires.
    pub expires_in: u64,
    pub refresh_token: String,
    pub user: UserView,
    /// For the browser's cookie, so that later log-ins from this device have a budget of their own.
    #[serde(skip)]
    #[schema(ignore)]
    pub device: Option<String>,
}

/// Where a log-in came from.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    pub ip: Option<String>,
    /// What counts as one network: the address, or a prefix that one person's addresses share.
    pub network: Option<String>,
    pub agent: Option<String>,
    /// The device token from the browser's cookie.
    pub device: Option<String>,
}

/// The row of a new account with encrypted personal fields. Its address isn't proved.
pub fn new_user(
    context: &AppContext,
    asked: &SignUp,
    password_hash: String,
    now: Timestamp,
) -> CreateUser {
    let user = UserId::new(context.rng.id(now));
    let encrypt = |column: &str, value: &str| {
        context.keyring.encrypt(&field(column, user), value, &*context.rng)
    };
    CreateUser {
        user,
        email: encrypt("email", asked.email.as_str()),
        email_hash: context.keyring.lookup("email", asked.email.as_str()),
        is_email_proven: false,
        password_hash,
        name: encrypt("name", asked.name.as_str()),
        phone: asked.phone.as_ref().map(|phone| encrypt("phone", phone.as_str())),
        phone_hash: asked.phone.as_ref().map(|it| context.keyring.lookup("phone", it.as_str())),
        role: asked.role,
        consents: Vec::new(),
        now,
    }
}

/// The table, column and row that an encrypted value is bound to.
pub(crate) fn field(column: &str, user: UserId) -> String {
    format!("users.{column}.{user}")
}

/// The credentials of a log-in.
pub struct Credentials {
    pub email: Email,
    pub password: String,
    /// The code of the second factor, if the account has one.
    pub code: Option<String>,
}

/// An unknown address and a wrong password give the same answer after the same work.
pub async fn log_in(context: &AppContext, given: Credentials, origin: Origin) -> Result<LoggedIn> {
    let Credentials { email, password, code } = given;
    let email_hash = context.keyring.lookup("email", email.as_str());
    let budget = budgets::take(context, email_hash, &origin).await?;
    let found = context.store.user_by_email(email_hash).await?;
    let hash = found.as_ref().and_then(UserRecord::known_hash);
    let verdict = context.identity.passwords.verify(password.clone(), hash).await?;
    let is_right = verdict != Verdict::Wrong;
    let now = context.now();
    let mut attempt = LoginAttempt {
        login: LoginId::new(context.rng.id(now)),
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
                let new = context.identity.passwords.hash(password).await?;
                let known = user.password_hash.clone();
                let command = RenewHash { user: user.user, known, new, now };
                context.store.renew_hash(command).await?;
            }
            if let Err(error) = check_code(context, &user, code.as_deref(), now).await {
                if matches!(error, Error::Refused(Refusal::CodeWrong)) {
                    attempt.success = false;
                    attempt.reason = Some("CODE");
                    context.store.record_failed_login(attempt).await?;
                }
                return Err(error);
            }
            let device =
                Device::of(context, email_hash, &origin).unwrap_or_else(|| Device::new(context));
            let mut logged_in = start_session(context, user, attempt).await?;
            logged_in.device = Some(device.token(context, email_hash));
            Ok(logged_in)
        }
        Some(_) | None => {
            attempt.success = false;
            attempt.reason = Some(if attempt.user.is_some() { "PASSWORD" } else { "UNKNOWN" });
            context.store.record_failed_login(attempt).await?;
            Err(Refusal::LoginFailed.into())
        }
    }
}

async fn start_session(
    context: &AppContext,
    user: UserRecord,
    attempt: LoginAttempt,
) -> Result<LoggedIn> {
    let now = attempt.now;
    let session = SessionId::new(context.rng.id(now));
    let (refresh_token, refresh_hash) = new_refresh_token(context);
    let command = StartSession {
        session,
        user: user.user,
        refresh_hash,
        expires_at: now.plus(REFRESH_TOKEN_LENGTH),
        attempt,
    };
    context.store.start_session(command).await?;
    logged_in(context, &user, session, refresh_token).await
}

/// 256 random bits for the client; only their hash is stored.
fn new_refresh_token(context: &AppContext) -> (String, [u8; 32]) {
    let token = URL_SAFE_NO_PAD.encode(context.rng.secret());
    let hash = sha256(token.as_bytes());
    (token, hash)
}

async fn logged_in(
    context: &AppContext,
    user: &UserRecord,
    session: SessionId,
    refresh_token: String,
) -> Result<LoggedIn> {
    let now = context.now();
    let caller = Caller { user: user.user, session, role: role_of(context, user) };
    let length = access_length(context, user.role);
    let jti = context.rng.id(now);
    Ok(LoggedIn {
        access_token: context.identity.sessions.issue_for(caller, jti, now, length),
        expires_in: length.as_secs(),
        refresh_token,
        user: view_with_team(context, user).await?,
        device: None,
    })
}

/// An organiser's token expires early, so that the next refresh is refused after too long an
/// absence: three token lifetimes fit into the permitted idle time.
pub fn access_length(context: &AppContext, role: Role) -> Duration {
    match context.rules.admin_idle {
        Some(idle) if role.is_organiser() => ACCESS_TOKEN_LENGTH.min(idle / 3),
        Some(_) | None => ACCESS_TOKEN_LENGTH,
    }
}

/// When a session ends unless its token is refreshed: after the permitted idle time for organisers,
/// after the lifetime of the refresh token for fans.
pub fn session_ends_at(context: &AppContext, role: Role, token_ends_at: Timestamp) -> Timestamp {
    let issued_at = token_ends_at.minus(access_length(context, role));
    match context.rules.admin_idle {
        Some(idle) if role.is_organiser() => issued_at.plus(idle),
        Some(_) | None => issued_at.plus(REFRESH_TOKEN_LENGTH),
    }
}

/// Decrypts a field of an account.
pub(crate) fn open(
    context: &AppContext,
    column: &str,
    user: UserId,
    encrypted: &[u8],
) -> Result<String> {
    context.keyring.decrypt(&field(column, user), encrypted)
}

/// The e-mail addresses of several accounts; deleted ones are left out.
pub(crate) async fn emails(
    context: &AppContext,
    users: Vec<UserId>,
) -> Result<HashMap<UserId, String>> {
    let found = context.store.users(users).await?;
    let email =
        |user: &UserRecord| Ok((user.user, open(context, "email", user.user, &user.email)?));
    found.iter().map(email).collect()
}

/// The names of several accounts, as far as they can be decrypted: a gate opens without one.
pub(crate) async fn names(
    context: &AppContext,
    users: Vec<UserId>,
) -> Result<HashMap<UserId, String>> {
    let found = context.store.users(users).await?;
    let name = |user: &UserRecord| match open(context, "name", user.user, &user.name) {
        Ok(name) => Some((user.user, name)),
        Err(error) => {
            tracing::warn!(user.id = %user.user, %error, "Could not decrypt a name");
            None
        }
    };
    Ok(found.iter().filter_map(name).collect())
}

/// An account as its owner sees it, with what an organiser may do.
async fn view_with_team(context: &AppContext, user: &UserRecord) -> Result<UserView> {
    let team = match user.role.is_organiser() {
        true => context.store.membership(user.user).await?.map(GrantView::from),
        false => None,
    };
    Ok(UserView { team, ..view(context, user)? })
}

fn view(context: &AppContext, user: &UserRecord) -> Result<UserView> {
    let open = |column: &str, encrypted: &[u8]| open(context, column, user.user, encrypted);
    Ok(UserView {
        id: user.user,
        email: open("email", &user.email)?,
        email_verified: user.is_email_proven,
        name: open("name", &user.name)?,
        phone: user.phone.as_ref().map(|phone| open("phone", phone)).transpose()?,
        role: user.role,
        team: None,
        identity_verified: user.is_verified,
        second_factor: user.has_second_factor(),
        has_password: user.known_hash().is_some(),
        created_at: user.created_at,
    })
}

/// Exchanges a refresh token for the next one. A token that was already spent means that a copy
/// exists, so the whole family ends.
pub async fn refresh(context: &AppContext, spent: &str) -> Result<LoggedIn> {
    let now = context.now();
    let (refresh_token, next_hash) = new_refresh_token(context);
    let command = RotateRefresh {
        spent_hash: sha256(spent.as_bytes()),
        next_hash,
        expires_at: now.plus(REFRESH_TOKEN_LENGTH),
        organisers_idle_max: context.rules.admin_idle,
        now,
    };
    match context.store.rotate_refresh(command).await? {
        Rotation::Rotated { user, session } => {
            logged_in(context, &user, session, refresh_token).await
        }
        Rotation::Invalid => Err(Refusal::RefreshInvalid.into()),
        Rotation::Retry => Err(Refusal::RefreshRetry.into()),
        Rotation::Idle { session } => {
            context.identity.revocations.revoke(session, now.plus(ACCESS_TOKEN_LENGTH)).await?;
            Err(Refusal::SessionIdle.into())
        }
        Rotation::Reused { session } => {
            context.identity.revocations.revoke(session, now.plus(ACCESS_TOKEN_LENGTH)).await?;
            Err(Refusal::RefreshReused.into())
        }
    }
}

pub async fn log_out(context: &AppContext, caller: Caller) -> Result<()> {
    let now = context.now();
    context.store.end_session(caller.session, now).await?;
    context.identity.revocations.revoke(caller.session, now.plus(ACCESS_TOKEN_LENGTH)).await
}

/// Authenticates the caller: a valid access token of a session that hasn't ended.
pub async fn authenticate(context: &AppContext, token: &str, now: Timestamp) -> Result<Caller> {
    authenticate_until(context, token, now).await.map(|(caller, _)| caller)
}

/// The same, with the expiry of the token.
pub async fn authenticate_until(
    context: &AppContext,
    token: &str,
    now: Timestamp,
) -> Result<(Caller, Timestamp)> {
    let found = context.identity.sessions.check_until(token, now).ok_or(Refusal::LoginRequired)?;
    if context.identity.revocations.is_revoked(found.0.session, now).await? {
        return Err(Refusal::LoginRequired.into());
    }
    Ok(found)
}
