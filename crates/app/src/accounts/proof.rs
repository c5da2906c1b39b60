//! Showing once more that it is you: before money moves, roles change or people's data leave in a
//! file, a log-in of this morning is not enough.

use super::profile::{prove, user_of};
use super::second_factor::prove_by_code;
use crate::error::Result;
use crate::platform::Platform;
use crate::sessions::Caller;
use domain::{Refusal, Timestamp};

/// Asks for the code of the second factor if there is one, else for the password.
pub async fn prove_again(
    platform: &Platform,
    caller: Caller,
    password: Option<String>,
    code: Option<&str>,
) -> Result<()> {
    let user = user_of(platform, caller).await?;
    match user.has_second_factor() {
        true => prove_by_code(platform, &user, code).await?,
        false => {
            prove(platform, caller, password.unwrap_or_default()).await?;
        }
    }
    match platform.store.note_proof(caller.session, platform.now()).await? {
        true => Ok(()),
        false => Err(Refusal::LoginRequired.into()),
    }
}

/// Refuses who logged in, or proved it, too long ago.
pub async fn require_proof(platform: &Platform, caller: Caller, now: Timestamp) -> Result<()> {
    let Some(lasts) = platform.rules.admin_proof else { return Ok(()) };
    let proven_at = platform.store.proven_at(caller.session).await?;
    match proven_at.is_some_and(|at| now < at.plus(lasts)) {
        true => Ok(()),
        false => Err(Refusal::ReauthRequired.into()),
    }
}
