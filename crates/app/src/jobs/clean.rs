//! Forgets what nobody needs any more. Each is a job of its own with its time of day.

use super::Round;
use crate::error::Result;
use crate::platform::Platform;
use domain::Timestamp;
use domain::accounts::{DORMANT_AFTER, ERASED_AFTER, LOGINS_KEPT_FOR};
use std::time::Duration;

const ROUND_MAX: u32 = 1_000;
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Published messages after 7 days, what was done about them after 30 (marks of workers, letters that
/// were sent, deliveries, dead letters that were settled), idempotency keys after 3.
pub async fn forget_messages(platform: &Platform, now: Timestamp) -> Result<Round> {
    let (week, month) = (now.minus(DAY * 7), now.minus(DAY * 30));
    let n_messages = platform.store.forget_messages(week, month, ROUND_MAX).await?;
    let n_keys = platform.store.forget_keys(now.minus(DAY * 3), ROUND_MAX).await?;
    Ok(round_of(&[n_messages, n_keys]))
}

/// Waiting rooms a day after their concert. The store goes on knowing who was let in. A round that
/// failed is made up for within a week; after that even Redis has forgotten the room by itself.
pub async fn forget_rooms(platform: &Platform, now: Timestamp) -> Result<Round> {
    let ended = platform.store.schedules_ended(now.minus(DAY * 8), now.minus(DAY)).await?;
    for schedule in &ended {
        platform.queue.remove(*schedule).await?;
        platform.progress.forget(*schedule);
        platform.waits.forget(*schedule);
    }
    Ok(Round { done: ended.len() as u64, ..Round::default() })
}

/// Log-ins after three months; sign-ups that nobody confirmed; who somebody was, a month after they withdrew. Accounts that nobody
/// uses sleep.
pub async fn keep_less(platform: &Platform, now: Timestamp) -> Result<Round> {
    let store = &platform.store;
    let n_logins = store.forget_logins(now.minus(LOGINS_KEPT_FOR), ROUND_MAX).await?;
    let n_erased = store.erase_withdrawn(now.minus(ERASED_AFTER), ROUND_MAX, now).await?;
    let n_asleep = store.make_dormant(now.minus(DORMANT_AFTER), ROUND_MAX, now).await?;
    let n_sign_ups = store.forget_sign_ups(now, ROUND_MAX).await?;
    Ok(round_of(&[n_logins, n_erased, n_asleep, n_sign_ups]))
}

fn round_of(counts: &[u64]) -> Round {
    let is_full = counts.iter().any(|n| *n >= u64::from(ROUND_MAX));
    Round { done: counts.iter().sum(), failed: 0, is_full }
}
