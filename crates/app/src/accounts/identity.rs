//! Proving who one is: one person, one account.

use super::profile::me;
use super::{UserView, field};
use crate::error::Result;
use crate::platform::Platform;
use crate::ports::accounts::ProveIdentity;
use crate::ports::identity::{Certifier, Window};
use crate::seals::Purpose;
use crate::sessions::Caller;
use domain::{Refusal, Timestamp, UserId};
use serde::Serialize;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use utoipa::ToSchema;
use uuid::Uuid;

/// A verification that the fan's browser can begin.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct IdentityStart {
    /// Give it to the certifier's window, and then to `POST /api/users/me/identity`.
    pub identity_verification_id: String,
    #[serde(flatten)]
    pub window: Window,
}

/// A verification counts for this long from its beginning.
const PROVE_WITHIN: Duration = Duration::from_secs(60 * 60);

fn certifier(platform: &Platform) -> Result<&Arc<dyn Certifier>> {
    Ok(platform.certifier.as_ref().ok_or(Refusal::IdentityNotOffered)?)
}

/// The id is made for this fan alone, so that nobody can take another's verification for theirs.
pub fn start_identity(platform: &Platform, caller: Caller) -> Result<IdentityStart> {
    let window = certifier(platform)?.window();
    let id = platform.chance.id(platform.now());
    let identity_verification_id = format!("{}{}", id.simple(), code(platform, caller.user, id));
    Ok(IdentityStart { identity_verification_id, window })
}

fn code(platform: &Platform, user: UserId, id: Uuid) -> String {
    let bytes = [*user.uuid().as_bytes(), *id.as_bytes()].concat();
    let code = platform.seals.code(Purpose::Identity, &bytes);
    code[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether this is an id that we made for this fan not long ago.
fn is_made_for(platform: &Platform, user: UserId, given: &str, now: Timestamp) -> bool {
    let Some((id, _)) = given.split_at_checked(32) else { return false };
    let Ok(id) = Uuid::try_parse(id) else { return false };
    let begun_at = Timestamp::from_ms(i64::try_from(id.as_u128() >> 80).unwrap_or(0));
    let is_ours = format!("{}{}", id.simple(), code(platform, user, id)) == given;
    is_ours && now < begun_at.plus(PROVE_WITHIN)
}

/// Asks the certifier who passed, and keeps it: sealed, and as a keyed hash to find it again.
pub async fn prove_identity(platform: &Platform, caller: Caller, id: &str) -> Result<UserView> {
    let certifier = certifier(platform)?;
    let (user, now) = (caller.user, platform.now());
    if !is_made_for(platform, user, id, now) {
        return Err(Refusal::IdentityUnproven.into());
    }
    let person = certifier.person(id).await?;
    if person.ci.is_none() && person.di.is_none() {
        return Err(Refusal::IdentityUnproven.into());
    }
    let seal = |column: &str, value: &Option<String>| {
        let seal =
            |text: &String| platform.seals.seal(&field(column, user), text, &*platform.chance);
        value.as_ref().map(seal)
    };
    let lookup = |column: &str, value: &Option<String>| {
        value.as_ref().map(|text| platform.seals.lookup(column, text))
    };
    let command = ProveIdentity {
        user,
        ci: seal("ci", &person.ci),
        ci_hash: lookup("ci", &person.ci),
        di: seal("di", &person.di),
        di_hash: lookup("di", &person.di),
        now,
    };
    platform.store.prove_identity(command).await?;
    me(platform, caller).await
}

/// Refuses who has not proved who they are.
pub async fn require_identity(platform: &Platform, user: UserId) -> Result<()> {
    if platform.proven.knows(user) {
        return Ok(());
    }
    let found = platform.store.user(user).await?.ok_or(Refusal::LoginRequired)?;
    if !found.is_verified {
        return Err(Refusal::IdentityRequired.into());
    }
    platform.proven.add(user);
    Ok(())
}

/// Fans who are known to have proved who they are. Nobody stops being who they are, so an answer
/// is kept; at an opening the store is asked about each fan once.
#[derive(Default)]
pub struct Proven(Mutex<HashSet<UserId>>);

/// Beyond this many the store is asked again.
const PROVEN_MAX: usize = 500_000;

impl Proven {
    fn knows(&self, user: UserId) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(&user)
    }

    fn add(&self, user: UserId) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= PROVEN_MAX {
            known.clear();
        }
        known.insert(user);
    }
}
