//! Frees seats whose hold has expired, and ends expired entries.

use crate::booking::port::reservations::Freed;
use crate::booking::reservations::tell_filter;
use crate::context::AppContext;
use crate::error::{Error, Result};
use crate::operations::jobs::{EXPIRE, Round, put_off};
use podo_domain::Timestamp;

/// Most holds in one round, so that a round stays short.
const ROUND_MAX: u32 = 500;

/// Only cleanup: an expired hold can be taken over whether or not it was swept.
pub async fn expire_holds(context: &AppContext, now: Timestamp) -> Result<Round> {
    let (freed, failed) = match context.store.expire_holds(now, ROUND_MAX).await {
        Ok(freed) => (freed, 0),
        Err(error @ Error::Unavailable(_)) => return Err(error),
        Err(error) => {
            tracing::warn!(%error, "Could not expire holds in one batch; expiring them one by one");
            expire_one_by_one(context, now).await?
        }
    };
    let n_entries = context.store.expire_entries(now, ROUND_MAX).await?;
    let done = freed.len() as u64 + n_entries;
    let is_full = freed.len() >= ROUND_MAX as usize || n_entries >= u64::from(ROUND_MAX);
    // The seats are free in any case; if the filter misses this, reconciliation corrects it later.
    tell_filter(context, &freed).await?;
    Ok(Round { done, failed, is_full })
}

/// One of the holds fails: it is postponed, and the next rounds skip it.
async fn expire_one_by_one(context: &AppContext, now: Timestamp) -> Result<(Vec<Freed>, u64)> {
    let (mut freed, mut failed) = (Vec::new(), 0);
    for hold in context.store.holds_over(now, ROUND_MAX).await? {
        match context.store.expire_hold(hold, now).await {
            Ok(ended) => freed.extend(ended),
            Err(error) => {
                put_off(context, EXPIRE, hold.uuid(), &error).await?;
                failed += 1;
            }
        }
    }
    Ok((freed, failed))
}
