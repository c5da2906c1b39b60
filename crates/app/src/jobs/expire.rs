//! Gives back seats whose hold ran out, and ends entries whose time is up.

use super::{EXPIRE, Round, put_off};
use crate::error::{Error, Result};
use crate::platform::Platform;
use crate::ports::reservations::Freed;
use crate::reservations::tell_filter;
use domain::Timestamp;

/// Most holds of one round, so that a round is always short.
const ROUND_MAX: u32 = 500;

/// Only tidies up: a hold past its time is free to take whether or not it was swept.
pub async fn expire_holds(platform: &Platform, now: Timestamp) -> Result<Round> {
    let (freed, failed) = match platform.store.expire_holds(now, ROUND_MAX).await {
        Ok(freed) => (freed, 0),
        Err(error @ Error::Unavailable(_)) => return Err(error),
        Err(error) => {
            tracing::warn!(%error, "Holds cannot be ended together; they are ended one by one");
            expire_one_by_one(platform, now).await?
        }
    };
    let n_entries = platform.store.expire_entries(now, ROUND_MAX).await?;
    let done = freed.len() as u64 + n_entries;
    let is_full = freed.len() >= ROUND_MAX as usize || n_entries >= u64::from(ROUND_MAX);
    // The seats are free in any case; a filter that does not hear of it is corrected later.
    tell_filter(platform, &freed).await?;
    Ok(Round { done, failed, is_full })
}

/// One of them is to blame: it is put off, and the next rounds go without it.
async fn expire_one_by_one(platform: &Platform, now: Timestamp) -> Result<(Vec<Freed>, u64)> {
    let (mut freed, mut failed) = (Vec::new(), 0);
    for hold in platform.store.holds_over(now, ROUND_MAX).await? {
        match platform.store.expire_hold(hold, now).await {
            Ok(ended) => freed.extend(ended),
            Err(error) => {
                put_off(platform, EXPIRE, hold.uuid(), &error).await?;
                failed += 1;
            }
        }
    }
    Ok((freed, failed))
}
