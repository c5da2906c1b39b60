//! Logging in with an account at another service.

use super::links::finish_link;
use super::{LoggedIn, Origin, field, start_session};
use crate::error::{Error, Result};
use crate::platform::Platform;
use crate::ports::accounts::{
    CreateSocialUser, CreateUser, LoginAttempt, SocialAccount, UserRecord,
};
use crate::ports::social::{Flow, SocialPerson, SocialService};
use aws_lc_rs::constant_time::verify_slices_are_equal;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::accounts::{Email, Role, SocialProvider};
use domain::text::Line;
use domain::{LoginId, Refusal, SessionId, Timestamp, UserId};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;

/// A log-in that a browser began here and goes on with at the service.
pub struct SocialStart {
    /// Where to go.
    pub url: String,
    /// What the browser brings back, sealed: nobody else can end what it began.
    pub kept: String,
}

/// What the browser comes back with.
pub struct SocialReturn<'r> {
    pub code: &'r str,
    pub state: &'r str,
    /// What it was given at the start.
    pub kept: &'r str,
}

/// A log-in at the service takes at most this long.
pub const SOCIAL_WITHIN: Duration = Duration::from_secs(600);

#[derive(Serialize, Deserialize)]
struct Kept {
    provider: String,
    state: String,
    nonce: String,
    verifier: String,
    begun_ms: i64,
    /// Set when the account is to be linked, not logged in with.
    link: Option<Link>,
}

/// Whose account another one is to be linked to, and in which session they asked for it.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) struct Link {
    pub(super) user: UserId,
    pub(super) session: SessionId,
}

/// What a way to another service and back led to.
pub enum SocialEnd {
    LoggedIn(Box<LoggedIn>),
    Linked,
}

impl Kept {
    fn flow(&self) -> Flow<'_> {
        Flow { state: &self.state, nonce: &self.nonce, verifier: &self.verifier }
    }
}

const SEALED_AS: &str = "social.flow";

fn service(platform: &Platform, provider: SocialProvider) -> Result<&Arc<dyn SocialService>> {
    let found = platform.social.iter().find(|service| service.provider() == provider);
    Ok(found.ok_or(Refusal::NotFound)?)
}

pub async fn start_social(platform: &Platform, provider: SocialProvider) -> Result<SocialStart> {
    begin(platform, provider, None).await
}

pub(super) async fn begin(
    platform: &Platform,
    provider: SocialProvider,
    link: Option<Link>,
) -> Result<SocialStart> {
    let service = service(platform, provider)?;
    let secret = || URL_SAFE_NO_PAD.encode(platform.chance.secret());
    let kept = Kept {
        provider: provider.slug().to_owned(),
        state: secret(),
        nonce: secret(),
        verifier: secret(),
        begun_ms: platform.now().ms(),
        link,
    };
    let url = service.page(kept.flow()).await?;
    let text = serde_json::to_string(&kept).map_err(Error::broken)?;
    let sealed = platform.seals.seal(SEALED_AS, &text, &*platform.chance);
    Ok(SocialStart { url, kept: URL_SAFE_NO_PAD.encode(sealed) })
}

/// What the browser kept, if it is ours, for this service, not too old, and about this answer.
fn read_kept(
    platform: &Platform,
    provider: SocialProvider,
    back: &SocialReturn<'_>,
    now: Timestamp,
) -> Option<Kept> {
    let sealed = URL_SAFE_NO_PAD.decode(back.kept).ok()?;
    let text = platform.seals.open(SEALED_AS, &sealed).ok()?;
    let kept: Kept = serde_json::from_str(&text).ok()?;
    let is_fresh = now < Timestamp::from_ms(kept.begun_ms).plus(SOCIAL_WITHIN);
    let is_answer = verify_slices_are_equal(kept.state.as_bytes(), back.state.as_bytes()).is_ok();
    (is_fresh && is_answer && kept.provider == provider.slug()).then_some(kept)
}

/// Links the account to that of who asked for it; otherwise logs in who logged in there. Somebody
/// new gets an account. An address that has an account here
/// is not taken over: nobody has proved that it is theirs.
pub async fn finish_social(
    platform: &Platform,
    provider: SocialProvider,
    back: SocialReturn<'_>,
    origin: Origin,
) -> Result<SocialEnd> {
    let service = service(platform, provider)?;
    let now = platform.now();
    let kept = read_kept(platform, provider, &back, now).ok_or(Refusal::SocialFailed)?;
    let person = service.person(back.code, kept.flow(), now).await?;
    let subject = format!("{}:{}", provider.slug(), person.subject);
    let account =
        SocialAccount { provider, subject_hash: platform.seals.lookup("social", &subject) };
    if let Some(link) = kept.link {
        finish_link(platform, link, account, now).await?;
        return Ok(SocialEnd::Linked);
    }
    let user = match platform.store.user_by_social(account).await? {
        Some(user) => user,
        None => make_account(platform, account, &person, now).await?,
    };
    if user.has_second_factor() {
        return Err(Refusal::CodeRequired.into());
    }
    let attempt = LoginAttempt {
        login: LoginId::new(platform.chance.id(now)),
        user: Some(user.user),
        email_hash: account.subject_hash,
        ip: origin.ip,
        network: origin.network,
        agent: origin.agent,
        budget: None,
        method: provider.as_str(),
        success: true,
        reason: None,
        now,
    };
    Ok(SocialEnd::LoggedIn(Box::new(start_session(platform, user, attempt).await?)))
}

async fn make_account(
    platform: &Platform,
    account: SocialAccount,
    person: &SocialPerson,
    now: Timestamp,
) -> Result<UserRecord> {
    let user = new_user(platform, person, now);
    let id = user.user;
    let made = platform.store.create_social_user(CreateSocialUser { user, account }).await;
    made.map_err(|error| match error {
        Error::Refused(Refusal::EmailTaken) => Refusal::SocialNotLinked.into(),
        Error::Refused(_) | Error::Unavailable(_) | Error::Conflict(_) | Error::Broken(_) => error,
    })?;
    let found = platform.store.user(id).await?;
    found.ok_or_else(|| Error::Broken(format!("no {id} right after it was made")))
}

/// A service need not tell an address; then the account has none, and no password either.
fn new_user(platform: &Platform, person: &SocialPerson, now: Timestamp) -> CreateUser {
    let user = UserId::new(platform.chance.id(now));
    let seal = |column: &str, value: &str| {
        platform.seals.seal(&field(column, user), value, &*platform.chance)
    };
    let email = person.email.clone().and_then(|text| Email::try_from(text).ok());
    let name = person.name.as_deref().unwrap_or("팬").chars().take(50).collect::<String>();
    let name = Line::<50>::try_from(name).map_or_else(|_error| "팬".to_owned(), String::from);
    CreateUser {
        user,
        email: seal("email", email.as_ref().map_or("", Email::as_str)),
        email_hash: match &email {
            Some(email) => platform.seals.lookup("email", email.as_str()),
            None => platform.chance.secret(),
        },
        // A service tells only an address that it vouches for.
        is_email_proven: email.is_some(),
        password_hash: String::new(),
        name: seal("name", &name),
        phone: None,
        phone_hash: None,
        role: Role::User,
        now,
    }
}
