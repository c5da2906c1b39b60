//! Proof of ownership of an existing account's address, by a mailed code.

use crate::context::AppContext;
use crate::error::Result;
use crate::identity::accounts::profile::user_of;
use crate::identity::accounts::sign_up::{
    EMAIL_WINDOW, EMAILS_PER_ADDRESS, code_hash, new_code, short_hash,
};
use crate::identity::accounts::{field, open};
use crate::identity::port::accounts::{CreateUser, PendingPurpose, ProveEmail, RequestSignUp};
use crate::identity::sessions::Caller;
use podo_domain::identity::{Email, Role, SIGN_UP_WITHIN};
use podo_domain::messaging::messages::Language;
use podo_domain::{Refusal, Timestamp, UserId};

/// A notification with a code was sent.
#[derive(Clone, Copy, Debug)]
pub struct EmailProofAsked {
    pub proof: UserId,
    pub expires_at: Timestamp,
}

/// Mails a code to the address of the caller's account. The notification doesn't go to the
/// account's own mailbox, because reading that doesn't prove the address.
pub async fn ask_email_proof(
    context: &AppContext,
    caller: Caller,
    language: Language,
) -> Result<EmailProofAsked> {
    let user = user_of(context, caller).await?;
    let address = open(context, "email", user.user, &user.email)?;
    // An account from a social log-in may have no address.
    let email = Email::try_from(address).map_err(|_none| Refusal::NotFound)?;
    let key = format!("sign-up:{}", short_hash(context, &email));
    context.take(&key, EMAILS_PER_ADDRESS, EMAIL_WINDOW).await?;
    let now = context.now();
    let (proof, expires_at) = (UserId::new(context.rng.id(now)), now.plus(SIGN_UP_WITHIN));
    let encrypt = |column: &str, value: &str| {
        context.keyring.encrypt(&field(column, proof), value, &*context.rng)
    };
    let code = new_code(context);
    let command = RequestSignUp {
        purpose: PendingPurpose::SignUp,
        code: encrypt("code", &code),
        code_hash: code_hash(context, proof, &code),
        account: CreateUser {
            user: proof,
            email: encrypt("email", email.as_str()),
            email_hash: context.keyring.lookup("email", email.as_str()),
            is_email_proven: false,
            password_hash: String::new(),
            name: encrypt("name", ""),
            phone: None,
            phone_hash: None,
            role: Role::User,
            consents: Vec::new(),
            now,
        },
        taken_by: None,
        proves: Some(caller.user),
        language,
        expires_at,
    };
    context.store.ask_sign_up(command).await?;
    Ok(EmailProofAsked { proof, expires_at })
}

/// Marks the address as proved if the code is right. A code allows only a few guesses.
pub async fn prove_email(
    context: &AppContext,
    caller: Caller,
    proof: UserId,
    code: &str,
) -> Result<()> {
    let code_hash = code_hash(context, proof, code);
    let command = ProveEmail { user: caller.user, proof, code_hash, now: context.now() };
    match context.store.prove_email(command).await? {
        true => Ok(()),
        false => Err(Refusal::CodeWrong.into()),
    }
}
