//! Step-up authentication: before money moves, roles change or personal data is exported, an old
//! log-in isn't enough.

use crate::context::AppContext;
use crate::error::Result;
use crate::identity::accounts::profile::{prove, user_of};
use crate::identity::accounts::second_factor::prove_by_code;
use crate::identity::sessions::Caller;
use podo_domain::{Refusal, Timestamp};

/// Requires the code of the second factor if there is one, otherwise the password.
pub async fn prove_again(
    context: &AppContext,
    caller: Caller,
    password: Option<String>,
    code: Option<&str>,
) -> Result<()> {
    let user = user_of(context, caller).await?;
    match user.has_second_factor() {
        true => prove_by_code(context, &user, code).await?,
        false => {
            prove(context, caller, password.unwrap_or_default()).await?;
        }
    }
    match context.store.note_proof(caller.session, context.now()).await? {
        true => Ok(()),
        false => Err(Refusal::LoginRequired.into()),
    }
}

/// Refuses sessions whose last log-in or step-up is too old.
pub async fn require_proof(context: &AppContext, caller: Caller, now: Timestamp) -> Result<()> {
    let Some(lasts) = context.rules.admin_proof else { return Ok(()) };
    let proven_at = context.store.proven_at(caller.session).await?;
    match proven_at.is_some_and(|at| now < at.plus(lasts)) {
        true => Ok(()),
        false => Err(Refusal::ReauthRequired.into()),
    }
}
