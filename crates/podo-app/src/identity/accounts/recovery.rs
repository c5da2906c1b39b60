//! Getting back in: a new password for a forgotten one, and a new address for an account.

use crate::context::AppContext;
use crate::error::Result;
use crate::identity::accounts::mailed_links::{limit_emails, pending_link, read_token};
use crate::identity::accounts::profile::{prove, revoke_all};
use crate::identity::accounts::sign_up::{code_hash, new_code};
use crate::identity::accounts::{Origin, field, open};
use crate::identity::port::accounts::{PendingPurpose, RequestSignUp};
use crate::identity::port::recovery::{ChangeEmail, ResetPassword};
use crate::identity::sessions::Caller;
use podo_domain::identity::{Email, NewPassword, RESET_WITHIN, SIGN_UP_WITHIN};
use podo_domain::messaging::messages::Language;
use podo_domain::{Refusal, Timestamp, UserId};
use std::time::Duration;

/// Requests and attempts of one network per minute.
const RESETS: u32 = 20;
const RESETS_PER: Duration = Duration::from_secs(60);

/// How long the notice to the previous address may take.
const NOTICE_WITHIN: Duration = Duration::from_secs(24 * 60 * 60);

async fn take_from(context: &AppContext, origin: &Origin) -> Result<()> {
    match &origin.network {
        Some(network) => context.take(&format!("reset-from:{network}"), RESETS, RESETS_PER).await,
        None => Ok(()),
    }
}

/// Mails a link to set a new password. The same work and the same answer for every address; only
/// the e-mail differs. Returns when the link expires.
pub async fn ask_reset(
    context: &AppContext,
    email: &Email,
    language: Language,
    origin: &Origin,
) -> Result<Timestamp> {
    take_from(context, origin).await?;
    limit_emails(context, email).await?;
    let expires_at = context.now().plus(RESET_WITHIN);
    let pending = pending_link(context, PendingPurpose::Reset, email, language, expires_at);
    let known = context.store.user_by_email(pending.account.email_hash).await?;
    let proves = known.map(|it| it.user);
    context.store.ask_sign_up(RequestSignUp { proves, ..pending }).await?;
    Ok(expires_at)
}

/// Sets a new password. It logs no one in: an account with a second factor still asks for its code.
pub async fn reset_password(
    context: &AppContext,
    token: &str,
    password: NewPassword,
    origin: &Origin,
) -> Result<()> {
    take_from(context, origin).await?;
    let token = read_token(context, token).ok_or(Refusal::LinkInvalid)?;
    // Before the expensive hash.
    if !context.store.can_reset(token.id, token.hash, context.now()).await? {
        return Err(Refusal::LinkInvalid.into());
    }
    let new_hash = context.identity.passwords.hash_new(password.as_str().to_owned()).await?;
    let now = context.now();
    let command = ResetPassword { pending: token.id, token_hash: token.hash, new_hash, now };
    match context.store.reset_password(command).await? {
        Some(ended) => revoke_all(context, &ended, now).await,
        None => Err(Refusal::LinkInvalid.into()),
    }
}

/// A code was mailed to the new address.
#[derive(Clone, Copy, Debug)]
pub struct EmailChangeAsked {
    pub change: UserId,
    pub expires_at: Timestamp,
}

/// Mails a code to the new address of an account. An address with another account gets a different
/// e-mail and the same answer.
pub async fn ask_email_change(
    context: &AppContext,
    caller: Caller,
    password: String,
    email: &Email,
    language: Language,
) -> Result<EmailChangeAsked> {
    prove(context, caller, password).await?;
    limit_emails(context, email).await?;
    let expires_at = context.now().plus(SIGN_UP_WITHIN);
    let pending = pending_link(context, PendingPurpose::NewEmail, email, language, expires_at);
    let change = pending.account.user;
    let known = context.store.user_by_email(pending.account.email_hash).await?;
    let code = new_code(context);
    let command = RequestSignUp {
        code: context.keyring.encrypt(&field("code", change), &code, &*context.rng),
        code_hash: code_hash(context, change, &code),
        taken_by: known.map(|it| it.user),
        proves: Some(caller.user),
        ..pending
    };
    context.store.ask_sign_up(command).await?;
    Ok(EmailChangeAsked { change, expires_at })
}

/// Changes the address if the code is right. The previous address gets a notice, and all other
/// sessions end.
pub async fn confirm_email_change(
    context: &AppContext,
    caller: Caller,
    change: UserId,
    code: &str,
    language: Language,
) -> Result<()> {
    let pending = context.store.sign_up(change).await?.ok_or(Refusal::CodeWrong)?;
    if pending.purpose != PendingPurpose::NewEmail || pending.proves != Some(caller.user) {
        return Err(Refusal::CodeWrong.into());
    }
    let address = open(context, "email", change, &pending.email)?;
    let user = context.store.user(caller.user).await?.ok_or(Refusal::LoginRequired)?;
    let previous = open(context, "email", user.user, &user.email)?;
    let notice = Email::try_from(previous).ok().map(|previous| {
        let until = context.now().plus(NOTICE_WITHIN);
        pending_link(context, PendingPurpose::OldEmail, &previous, language, until)
    });
    let now = context.now();
    let command = ChangeEmail {
        user: caller.user,
        pending: change,
        code_hash: code_hash(context, change, code),
        email: context.keyring.encrypt(&field("email", caller.user), &address, &*context.rng),
        email_hash: context.keyring.lookup("email", &address),
        notice,
        keep: caller.session,
        now,
    };
    match context.store.change_email(command).await? {
        Some(ended) => revoke_all(context, &ended, now).await,
        None => Err(Refusal::CodeWrong.into()),
    }
}
