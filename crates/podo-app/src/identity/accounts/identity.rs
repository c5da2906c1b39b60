//! Identity verification: one person, one account.

use crate::cache::Cache;
use crate::context::AppContext;
use crate::error::Result;
use crate::identity::accounts::profile::me;
use crate::identity::accounts::{UserView, field};
use crate::identity::keyring::{Purpose, sha256};
use crate::identity::port::accounts::ProveIdentity;
use crate::identity::port::certifier::{Certifier, Window};
use crate::identity::sessions::Caller;
use podo_domain::identity::CiHash;
use podo_domain::{Refusal, Timestamp, UserId};
use serde::Serialize;
use std::sync::Arc;
use std::time::Duration;
use utoipa::ToSchema;
use uuid::Uuid;

/// A verification that the fan's browser can start.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct IdentityStart {
    /// Pass it to the certifier's window, and then to `POST /api/users/me/identity`.
    pub identity_verification_id: String,
    #[serde(flatten)]
    pub window: Window,
}

/// A verification is valid for this long from its start.
const PROVE_WITHIN: Duration = Duration::from_secs(60 * 60);

fn certifier(context: &AppContext) -> Result<&Arc<dyn Certifier>> {
    Ok(context.identity.certifier.as_ref().ok_or(Refusal::IdentityNotOffered)?)
}

/// The id is bound to this fan, so that one fan can't claim another's verification.
pub fn start_identity(context: &AppContext, caller: Caller) -> Result<IdentityStart> {
    let window = certifier(context)?.window();
    let id = context.rng.id(context.now());
    let identity_verification_id = format!("{}{}", id.simple(), code(context, caller.user, id));
    Ok(IdentityStart { identity_verification_id, window })
}

fn code(context: &AppContext, user: UserId, id: Uuid) -> String {
    let bytes = [*user.uuid().as_bytes(), *id.as_bytes()].concat();
    let code = context.keyring.code(Purpose::Identity, &bytes);
    code[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether we recently issued this id to this fan.
fn is_made_for(context: &AppContext, user: UserId, given: &str, now: Timestamp) -> bool {
    let Some((id, _)) = given.split_at_checked(32) else { return false };
    let Ok(id) = Uuid::try_parse(id) else { return false };
    let begun_at = Timestamp::from_ms(i64::try_from(id.as_u128() >> 80).unwrap_or(0));
    let is_ours = format!("{}{}", id.simple(), code(context, user, id)) == given;
    is_ours && now < begun_at.plus(PROVE_WITHIN)
}

/// Asks the certifier who passed, and stores the result: encrypted, and as a keyed hash for
/// look-up.
pub async fn prove_identity(context: &AppContext, caller: Caller, id: &str) -> Result<UserView> {
    let certifier = certifier(context)?;
    let (user, now) = (caller.user, context.now());
    if !is_made_for(context, user, id, now) {
        return Err(Refusal::IdentityUnproven.into());
    }
    let person = certifier.person(id).await?;
    if person.ci.is_none() && person.di.is_none() {
        return Err(Refusal::IdentityUnproven.into());
    }
    let encrypt = |column: &str, value: &Option<String>| {
        let encrypt =
            |text: &String| context.keyring.encrypt(&field(column, user), text, &*context.rng);
        value.as_ref().map(encrypt)
    };
    let lookup = |column: &str, value: &Option<String>| {
        value.as_ref().map(|text| context.keyring.lookup(column, text))
    };
    let command = ProveIdentity {
        user,
        ci: encrypt("ci", &person.ci),
        ci_hash: lookup("ci", &person.ci),
        di: encrypt("di", &person.di),
        di_hash: lookup("di", &person.di),
        now,
    };
    context.store.prove_identity(command).await?;
    me(context, caller).await
}

/// Refuses fans who haven't verified their identity.
pub async fn require_identity(context: &AppContext, user: UserId) -> Result<()> {
    if context.identity.proofs.0.contains(&user) {
        return Ok(());
    }
    let found = context.store.user(user).await?.ok_or(Refusal::LoginRequired)?;
    if !found.is_verified {
        return Err(Refusal::IdentityRequired.into());
    }
    context.identity.proofs.0.insert(user, ());
    Ok(())
}

/// The hash of the fan's CI, as lists of people have it; `None` without a verified CI. It is computed
/// from the encrypted CI each time and not stored.
pub async fn identity_hash(context: &AppContext, user: UserId) -> Result<Option<CiHash>> {
    let Some(encrypted) = context.store.proven_ci(user).await? else { return Ok(None) };
    let ci = context.keyring.decrypt(&field("ci", user), &encrypted)?;
    Ok(Some(CiHash::of_digest(&sha256(ci.as_bytes()))))
}

/// Fans who have verified their identity. A verification never lapses, so the answer can be cached;
/// at an opening the store is asked about each fan once.
pub struct IdentityCache(Cache<UserId, ()>);

/// The store is asked again about a fan who was evicted.
const PROVEN_MAX: usize = 500_000;

impl Default for IdentityCache {
    fn default() -> IdentityCache {
        IdentityCache(Cache::of(PROVEN_MAX))
    }
}
