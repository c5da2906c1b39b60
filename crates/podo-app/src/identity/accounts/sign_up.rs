//! Sign-up: immediate, or after proof of the address. The latter doesn't reveal whether an address
//! has an account here.

use crate::context::AppContext;
use crate::error::{Error, Result};
use crate::identity::accounts::{Origin, SignUp, field, new_user};
use crate::identity::legal::require_consents;
use crate::identity::port::accounts::{ConfirmSignUp, CreateUser, PendingPurpose, RequestSignUp};
use podo_domain::identity::consents::{Consent, Consents};
use podo_domain::identity::{Email, SIGN_UP_WITHIN};
use podo_domain::messaging::messages::Language;
use podo_domain::{Refusal, Timestamp, UserId};
use std::time::Duration;

/// The result of a sign-up request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignedUp {
    Made(UserId),
    /// A notification was sent, regardless of who owns the address.
    CodeSent {
        sign_up: UserId,
        expires_at: Timestamp,
    },
}

/// The period of `sign_ups_per_minute`.
const SIGN_UPS_PER: Duration = Duration::from_secs(60);

/// Creates the account, or first asks for proof of the address if the settings require it.
pub async fn sign_up(
    context: &AppContext,
    asked: SignUp,
    consents: Consents,
    language: Language,
    origin: &Origin,
) -> Result<SignedUp> {
    take_sign_up(context, origin).await?;
    let consents = require_consents(context, consents).await?;
    match context.rules.confirm_email {
        false => make_account(context, asked, false, consents).await.map(SignedUp::Made),
        true => ask_address(context, asked, consents, language).await,
    }
}

/// Creates an account whose owner proved the address by a link in an e-mail.
pub(crate) async fn join_with_proven_email(
    context: &AppContext,
    asked: SignUp,
    consents: Consents,
    origin: &Origin,
) -> Result<UserId> {
    take_sign_up(context, origin).await?;
    let consents = require_consents(context, consents).await?;
    make_account(context, asked, true, consents).await
}

async fn take_sign_up(context: &AppContext, origin: &Origin) -> Result<()> {
    let Some(network) = &origin.network else { return Ok(()) };
    let n_max = context.rules.sign_ups_per_minute;
    context.take(&format!("sign-up-from:{network}"), n_max, SIGN_UPS_PER).await
}

async fn make_account(
    context: &AppContext,
    asked: SignUp,
    is_email_proven: bool,
    consents: Vec<Consent>,
) -> Result<UserId> {
    let hash = context.identity.passwords.hash_new(asked.password.as_str().to_owned()).await?;
    let user = new_user(context, &asked, hash, context.now());
    let command = CreateUser { is_email_proven, consents, ..user };
    let user = command.user;
    context.store.create_user(command).await?;
    Ok(user)
}

/// Notifications to one address per hour, so that strangers can't flood it.
pub(crate) const EMAILS_PER_ADDRESS: u32 = 5;
pub(crate) const EMAIL_WINDOW: Duration = Duration::from_secs(60 * 60);

/// The same work and the same answer for every address; only the notification differs.
async fn ask_address(
    context: &AppContext,
    asked: SignUp,
    consents: Vec<Consent>,
    language: Language,
) -> Result<SignedUp> {
    let key = format!("sign-up:{}", short_hash(context, &asked.email));
    context.take(&key, EMAILS_PER_ADDRESS, EMAIL_WINDOW).await?;
    let hash = context.identity.passwords.hash_new(asked.password.as_str().to_owned()).await?;
    let now = context.now();
    let account = CreateUser { consents, ..new_user(context, &asked, hash, now) };
    let taken_by = context.store.user_by_email(account.email_hash).await?.map(|it| it.user);
    let code = new_code(context);
    let (sign_up, expires_at) = (account.user, now.plus(SIGN_UP_WITHIN));
    let command = RequestSignUp {
        purpose: PendingPurpose::SignUp,
        code: context.keyring.encrypt(&field("code", sign_up), &code, &*context.rng),
        code_hash: code_hash(context, sign_up, &code),
        account,
        taken_by,
        proves: None,
        language,
        expires_at,
    };
    context.store.ask_sign_up(command).await?;
    Ok(SignedUp::CodeSent { sign_up, expires_at })
}

pub(crate) fn new_code(context: &AppContext) -> String {
    format!("{:06}", context.rng.number() % 1_000_000)
}

pub(crate) fn short_hash(context: &AppContext, email: &Email) -> String {
    let hash = context.keyring.lookup("email", email.as_str());
    let half = hash.first_chunk::<16>().expect("a hash of 32 bytes has a first half");
    format!("{:032x}", u128::from_be_bytes(*half))
}

pub(crate) fn code_hash(context: &AppContext, sign_up: UserId, code: &str) -> [u8; 32] {
    context.keyring.lookup("sign-up code", &format!("{sign_up}:{code}"))
}

/// Creates the account if the code is right. A code allows only a few guesses.
pub async fn confirm_sign_up(context: &AppContext, sign_up: UserId, code: &str) -> Result<UserId> {
    let code_hash = code_hash(context, sign_up, code);
    let command = ConfirmSignUp { sign_up, code_hash, now: context.now() };
    match context.store.confirm_sign_up(command).await? {
        true => Ok(sign_up),
        false => Err(Refusal::CodeWrong.into()),
    }
}

/// Creates the first organiser, or returns `None` if the address is taken. The operator vouches for
/// the address.
pub async fn create_admin(context: &AppContext, asked: SignUp) -> Result<Option<UserId>> {
    match make_account(context, asked, true, Vec::new()).await {
        Ok(user) => Ok(Some(user)),
        Err(Error::Refused(Refusal::EmailTaken)) => Ok(None),
        Err(error) => Err(error),
    }
}
