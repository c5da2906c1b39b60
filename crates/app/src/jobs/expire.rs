//! Gives back seats whose hold ran out, and ends entries whose time is up.

use super::Round;
use crate::error::Result;
use crate::platform::Platform;
use crate::reservations::tell_filter;
use domain::Timestamp;

/// Most holds of one round, so that a round is always short.
const ROUND_MAX: u32 = 500;

/// Only tidies up: a hold past its time is free to take whether or not it was swept.
pub async fn expire_holds(platform: &Platform, now: Timestamp) -> Result<Round> {
    let freed = platform.store.expire_holds(now, ROUND_MAX).await?;
    tell_filter(platform, &freed).await?;
    let n_entries = platform.store.expire_entries(now, ROUND_MAX).await?;
    let done = freed.len() as u64 + n_entries;
    let is_full = freed.len() >= ROUND_MAX as usize || n_entries >= u64::from(ROUND_MAX);
    Ok(Round { done, failed: 0, is_full })
}
