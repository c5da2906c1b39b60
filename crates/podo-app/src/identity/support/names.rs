//! The job that makes names and addresses searchable. They are encrypted, so the store can't do it
//! by itself.

use crate::context::AppContext;
use crate::error::Result;
use crate::identity::accounts;
use crate::identity::support::port::{IndexName, UnindexedName};
use crate::operations::jobs::{NAMES, Round, put_off};
use podo_domain::Timestamp;
use podo_domain::identity::email_prefixes;
use podo_domain::identity::names::name_prefixes;

const ROUND_MAX: u32 = 200;

/// The keyed hash under which the prefix of a name is stored.
pub(crate) fn prefix_hash(context: &AppContext, prefix: &str) -> [u8; 32] {
    context.keyring.lookup("name prefix", prefix)
}

/// The same for the beginning of an address, and for its domain.
pub(crate) fn email_hash(context: &AppContext, part: &str) -> [u8; 32] {
    context.keyring.lookup("email prefix", part)
}

/// Indexes new and changed names and addresses.
pub async fn index_names(context: &AppContext, now: Timestamp) -> Result<Round> {
    let found = context.store.unindexed_names(now, ROUND_MAX).await?;
    let mut round = Round { is_full: found.len() >= ROUND_MAX as usize, ..Round::default() };
    let mut indexed = Vec::with_capacity(found.len());
    for known in found {
        let user = known.user;
        match hashes(context, known) {
            Ok(name) => indexed.push(name),
            Err(error) => {
                put_off(context, NAMES, user.uuid(), &error).await?;
                round.failed += 1;
            }
        }
    }
    round.done = indexed.len() as u64;
    if !indexed.is_empty() {
        context.store.index_names(indexed).await?;
    }
    Ok(round)
}

fn hashes(context: &AppContext, known: UnindexedName) -> Result<IndexName> {
    let name = accounts::open(context, "name", known.user, &known.name)?;
    let email = accounts::open(context, "email", known.user, &known.email)?;
    let names = name_prefixes(&name).into_iter().map(|prefix| prefix_hash(context, &prefix));
    let emails = email_prefixes(&email).into_iter().map(|part| email_hash(context, &part));
    let hashes = names.chain(emails).collect();
    Ok(IndexName { known, hashes })
}
