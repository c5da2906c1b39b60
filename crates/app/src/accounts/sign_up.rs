//! Signing up: at once, or after showing that the address is one's own. The second way tells nobody
//! whether an address has an account here.

use super::{Origin, SignUp, field, new_user};
use crate::error::{Error, Result};
use crate::platform::Platform;
use crate::ports::accounts::{AskSignUp, ConfirmSignUp, CreateUser};
use domain::accounts::{Email, SIGN_UP_WITHIN};
use domain::messages::Language;
use domain::{Refusal, Timestamp, UserId};
use std::time::Duration;

/// What became of a wish for an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignedUp {
    Made(UserId),
    /// A letter is on its way, whoever the address belongs to.
    Asked {
        sign_up: UserId,
        expires_at: Timestamp,
    },
}

/// What `sign_ups_per_minute` counts.
const SIGN_UPS_PER: Duration = Duration::from_secs(60);

/// Makes the account, or asks the address first where the settings say so.
pub async fn sign_up(
    platform: &Platform,
    asked: SignUp,
    language: Language,
    origin: &Origin,
) -> Result<SignedUp> {
    if let Some(network) = &origin.network {
        let n_max = platform.rules.sign_ups_per_minute;
        platform.take(&format!("sign-up-from:{network}"), n_max, SIGN_UPS_PER).await?;
    }
    match platform.rules.confirm_email {
        false => make_account(platform, asked, false).await.map(SignedUp::Made),
        true => ask_address(platform, asked, language).await,
    }
}

async fn make_account(platform: &Platform, asked: SignUp, is_email_proven: bool) -> Result<UserId> {
    let hash = platform.passwords.hash_new(asked.password.as_str().to_owned()).await?;
    let user = new_user(platform, &asked, hash, platform.now());
    let command = CreateUser { is_email_proven, ..user };
    let user = command.user;
    platform.store.create_user(command).await?;
    Ok(user)
}

/// Letters to one address in an hour: nobody is to be flooded by strangers.
pub(super) const LETTERS_PER_ADDRESS: u32 = 5;
pub(super) const LETTERS_PER: Duration = Duration::from_secs(60 * 60);

/// The same work and the same answer for every address. What differs is the letter.
async fn ask_address(platform: &Platform, asked: SignUp, language: Language) -> Result<SignedUp> {
    let key = format!("sign-up:{}", short_hash(platform, &asked.email));
    platform.take(&key, LETTERS_PER_ADDRESS, LETTERS_PER).await?;
    let hash = platform.passwords.hash_new(asked.password.as_str().to_owned()).await?;
    let now = platform.now();
    let account = new_user(platform, &asked, hash, now);
    let taken_by = platform.store.user_by_email(account.email_hash).await?.map(|it| it.user);
    let code = new_code(platform);
    let (sign_up, expires_at) = (account.user, now.plus(SIGN_UP_WITHIN));
    let command = AskSignUp {
        code: platform.seals.seal(&field("code", sign_up), &code, &*platform.chance),
        code_hash: code_hash(platform, sign_up, &code),
        account,
        taken_by,
        proves: None,
        language,
        expires_at,
    };
    platform.store.ask_sign_up(command).await?;
    Ok(SignedUp::Asked { sign_up, expires_at })
}

pub(super) fn new_code(platform: &Platform) -> String {
    format!("{:06}", platform.chance.number() % 1_000_000)
}

pub(super) fn short_hash(platform: &Platform, email: &Email) -> String {
    let hash = platform.seals.lookup("email", email.as_str());
    let half = hash.first_chunk::<16>().expect("32 bytes have 16");
    format!("{:032x}", u128::from_be_bytes(*half))
}

pub(super) fn code_hash(platform: &Platform, sign_up: UserId, code: &str) -> [u8; 32] {
    platform.seals.lookup("sign-up code", &format!("{sign_up}:{code}"))
}

/// Makes the account of somebody who got the letter. A code can be guessed a few times only.
pub async fn confirm_sign_up(platform: &Platform, sign_up: UserId, code: &str) -> Result<UserId> {
    let code_hash = code_hash(platform, sign_up, code);
    let command = ConfirmSignUp { sign_up, code_hash, now: platform.now() };
    match platform.store.confirm_sign_up(command).await? {
        true => Ok(sign_up),
        false => Err(Refusal::CodeWrong.into()),
    }
}

/// Makes the first organiser, or says who has that address already. The operator answers for the
/// address.
pub async fn create_admin(platform: &Platform, asked: SignUp) -> Result<Option<UserId>> {
    match make_account(platform, asked, true).await {
        Ok(user) => Ok(Some(user)),
        Err(Error::Refused(Refusal::EmailTaken)) => Ok(None),
        Err(error) => Err(error),
    }
}
