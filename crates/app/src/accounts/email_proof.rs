//! Showing, after the account was made, that its address is one's own: a code is mailed there.

use super::profile::user_of;
use super::sign_up::{LETTERS_PER, LETTERS_PER_ADDRESS, code_hash, new_code, short_hash};
use super::{field, open};
use crate::error::Result;
use crate::platform::Platform;
use crate::ports::accounts::{AskSignUp, CreateUser, ProveEmail};
use crate::sessions::Caller;
use domain::accounts::{Email, Role, SIGN_UP_WITHIN};
use domain::messages::Language;
use domain::{Refusal, Timestamp, UserId};

/// A letter with a code is on its way.
#[derive(Clone, Copy, Debug)]
pub struct EmailProofAsked {
    pub proof: UserId,
    pub expires_at: Timestamp,
}

/// Mails a code to the address of the caller's account. The letter is not in the account's own
/// mailbox: whoever reads that has not shown that the address is theirs.
pub async fn ask_email_proof(
    platform: &Platform,
    caller: Caller,
    language: Language,
) -> Result<EmailProofAsked> {
    let user = user_of(platform, caller).await?;
    let address = open(platform, "email", user.user, &user.email)?;
    // An account that came from another service may have none.
    let email = Email::try_from(address).map_err(|_none| Refusal::NotFound)?;
    let key = format!("sign-up:{}", short_hash(platform, &email));
    platform.take(&key, LETTERS_PER_ADDRESS, LETTERS_PER).await?;
    let now = platform.now();
    let (proof, expires_at) = (UserId::new(platform.chance.id(now)), now.plus(SIGN_UP_WITHIN));
    let seal = |column: &str, value: &str| {
        platform.seals.seal(&field(column, proof), value, &*platform.chance)
    };
    let code = new_code(platform);
    let command = AskSignUp {
        code: seal("code", &code),
        code_hash: code_hash(platform, proof, &code),
        account: CreateUser {
            user: proof,
            email: seal("email", email.as_str()),
            email_hash: platform.seals.lookup("email", email.as_str()),
            is_email_proven: false,
            password_hash: String::new(),
            name: seal("name", ""),
            phone: None,
            phone_hash: None,
            role: Role::User,
            now,
        },
        taken_by: None,
        proves: Some(caller.user),
        language,
        expires_at,
    };
    platform.store.ask_sign_up(command).await?;
    Ok(EmailProofAsked { proof, expires_at })
}

/// Believes the address of an account whose owner got the letter. A code can be guessed a few times
/// only.
pub async fn prove_email(
    platform: &Platform,
    caller: Caller,
    proof: UserId,
    code: &str,
) -> Result<()> {
    let code_hash = code_hash(platform, proof, code);
    let command = ProveEmail { user: caller.user, proof, code_hash, now: platform.now() };
    match platform.store.prove_email(command).await? {
        true => Ok(()),
        false => Err(Refusal::CodeWrong.into()),
    }
}
