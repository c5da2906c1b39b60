//! Log-in with an account of another service.

use crate::context::AppContext;
use crate::error::{Error, Result};
use crate::identity::accounts::links::finish_link;
use crate::identity::accounts::{LoggedIn, Origin, field, start_session};
use crate::identity::port::accounts::{
    CreateSocialUser, CreateUser, LoginAttempt, SocialAccount, UserRecord,
};
use crate::identity::port::social::{Flow, SocialPerson, SocialService};
use aws_lc_rs::constant_time::verify_slices_are_equal;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use podo_domain::catalog::text::Line;
use podo_domain::identity::{Email, Role, SocialProvider};
use podo_domain::{LoginId, Refusal, SessionId, Timestamp, UserId};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;

/// A log-in that a browser started here and continues at the service.
pub struct SocialStart {
    /// Where to redirect to.
    pub url: String,
    /// State that the browser brings back, encrypted, so that only this browser can finish the
    /// log-in.
    pub kept: String,
}

/// The browser's return from the service.
pub struct SocialReturn<'r> {
    pub code: &'r str,
    pub state: &'r str,
    /// The state from the start.
    pub kept: &'r str,
}

/// Time limit for the log-in at the service.
pub const SOCIAL_WITHIN: Duration = Duration::from_secs(600);

#[derive(Serialize, Deserialize)]
struct PendingLogin {
    provider: String,
    state: String,
    nonce: String,
    verifier: String,
    begun_ms: i64,
    /// Set if the account is to be linked instead of logged in with.
    link: Option<Link>,
}

/// The account to link to, and the session that requested it.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Link {
    pub(crate) user: UserId,
    pub(crate) session: SessionId,
}

/// The result of the round trip to the service.
pub enum SocialEnd {
    LoggedIn(Box<LoggedIn>),
    Linked,
}

impl PendingLogin {
    fn flow(&self) -> Flow<'_> {
        Flow { state: &self.state, nonce: &self.nonce, verifier: &self.verifier }
    }
}

const ENCRYPTED_AS: &str = "social.flow";

fn service(context: &AppContext, provider: SocialProvider) -> Result<&Arc<dyn SocialService>> {
    let found = context.identity.social.iter().find(|service| service.provider() == provider);
    Ok(found.ok_or(Refusal::NotFound)?)
}

pub async fn start_social(context: &AppContext, provider: SocialProvider) -> Result<SocialStart> {
    begin(context, provider, None).await
}

pub(crate) async fn begin(
    context: &AppContext,
    provider: SocialProvider,
    link: Option<Link>,
) -> Result<SocialStart> {
    let service = service(context, provider)?;
    let secret = || URL_SAFE_NO_PAD.encode(context.rng.secret());
    let kept = PendingLogin {
        provider: provider.slug().to_owned(),
        state: secret(),
        nonce: secret(),
        verifier: secret(),
        begun_ms: context.now().ms(),
        link,
    };
    let url = service.page(kept.flow()).await?;
    let text = serde_json::to_string(&kept).map_err(Error::broken)?;
    let encrypted = context.keyring.encrypt(ENCRYPTED_AS, &text, &*context.rng);
    Ok(SocialStart { url, kept: URL_SAFE_NO_PAD.encode(encrypted) })
}

/// The browser's state, if we issued it for this service and answer and it isn't too old.
fn read_kept(
    context: &AppContext,
    provider: SocialProvider,
    back: &SocialReturn<'_>,
    now: Timestamp,
) -> Option<PendingLogin> {
    let encrypted = URL_SAFE_NO_PAD.decode(back.kept).ok()?;
    let text = context.keyring.decrypt(ENCRYPTED_AS, &encrypted).ok()?;
    let kept: PendingLogin = serde_json::from_str(&text).ok()?;
    let is_fresh = now < Timestamp::from_ms(kept.begun_ms).plus(SOCIAL_WITHIN);
    let is_answer = verify_slices_are_equal(kept.state.as_bytes(), back.state.as_bytes()).is_ok();
    (is_fresh && is_answer && kept.provider == provider.slug()).then_some(kept)
}

/// Links the account to the requesting account, or logs in; a new person gets an account. An
/// existing account with the same address isn't taken over, because the address alone proves
/// nothing.
pub async fn finish_social(
    context: &AppContext,
    provider: SocialProvider,
    back: SocialReturn<'_>,
    origin: Origin,
) -> Result<SocialEnd> {
    let service = service(context, provider)?;
    let now = context.now();
    let kept = read_kept(context, provider, &back, now).ok_or(Refusal::SocialFailed)?;
    let person = service.person(back.code, kept.flow(), now).await?;
    let subject = format!("{}:{}", provider.slug(), person.subject);
    let account =
        SocialAccount { provider, subject_hash: context.keyring.lookup("social", &subject) };
    if let Some(link) = kept.link {
        finish_link(context, link, account, now).await?;
        return Ok(SocialEnd::Linked);
    }
    let user = match context.store.user_by_social(account).await? {
        Some(user) => user,
        None => make_account(context, account, &person, now).await?,
    };
    if user.has_second_factor() {
        return Err(Refusal::CodeRequired.into());
    }
    let attempt = LoginAttempt {
        login: LoginId::new(context.rng.id(now)),
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
    Ok(SocialEnd::LoggedIn(Box::new(start_session(context, user, attempt).await?)))
}

async fn make_account(
    context: &AppContext,
    account: SocialAccount,
    person: &SocialPerson,
    now: Timestamp,
) -> Result<UserRecord> {
    let user = new_user(context, person, now);
    let id = user.user;
    let made = context.store.create_social_user(CreateSocialUser { user, account }).await;
    made.map_err(|error| match error {
        Error::Refused(Refusal::EmailTaken) => Refusal::SocialNotLinked.into(),
        Error::Refused(_) | Error::Unavailable(_) | Error::Conflict(_) | Error::Broken(_) => error,
    })?;
    let found = context.store.user(id).await?;
    found.ok_or_else(|| Error::Broken(format!("{id} is missing right after its creation")))
}

/// A service may return no address; then the account has none, and no password either.
fn new_user(context: &AppContext, person: &SocialPerson, now: Timestamp) -> CreateUser {
    let user = UserId::new(context.rng.id(now));
    let encrypt = |column: &str, value: &str| {
        context.keyring.encrypt(&field(column, user), value, &*context.rng)
    };
    let email = person.email.clone().and_then(|text| Email::try_from(text).ok());
    let name = person.name.as_deref().unwrap_or("팬").chars().take(50).collect::<String>();
    let name = Line::<50>::try_from(name).map_or_else(|_error| "팬".to_owned(), String::from);
    CreateUser {
        user,
        email: encrypt("email", email.as_ref().map_or("", Email::as_str)),
        email_hash: match &email {
            Some(email) => context.keyring.lookup("email", email.as_str()),
            None => context.rng.secret(),
        },
        // A service returns only addresses that it vouches for.
        is_email_proven: email.is_some(),
        password_hash: String::new(),
        name: encrypt("name", &name),
        phone: None,
        phone_hash: None,
        role: Role::User,
        consents: Vec::new(),
        now,
    }
}
