//! Forgets what nobody needs any more.

use super::Round;
use crate::error::Result;
use crate::platform::Platform;
use domain::Timestamp;
use domain::accounts::{DORMANT_AFTER, ERASED_AFTER, LOGINS_KEPT_FOR};
use std::time::Duration;

const ROUND_MAX: u32 = 1_000;
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Published messages after 7 days, processed marks after 30, idempotency keys after 3, waiting
/// rooms a day after their concert, log-ins after three months; who somebody was, a month after they
/// withdrew. Accounts that nobody uses sleep.
pub async fn forget_old_rows(platform: &Platform, now: Timestamp) -> Result<Round> {
    forget_rooms(platform, now).await?;
    let (week, month) = (now.minus(DAY * 7), now.minus(DAY * 30));
    let n_messages = platform.store.forget_messages(week, month, ROUND_MAX).await?;
    let n_keys = platform.store.forget_keys(now.minus(DAY * 3), ROUND_MAX).await?;
    let store = &platform.store;
    let n_logins = store.forget_logins(now.minus(LOGINS_KEPT_FOR), ROUND_MAX).await?;
    let n_erased = store.erase_withdrawn(now.minus(ERASED_AFTER), ROUND_MAX, now).await?;
    let n_asleep = store.make_dormant(now.minus(DORMANT_AFTER), ROUND_MAX, now).await?;
    let all = [n_messages, n_keys, n_logins, n_erased, n_asleep];
    let is_full = all.iter().any(|n| *n >= u64::from(ROUND_MAX));
    Ok(Round { done: all.iter().sum(), failed: 0, is_full })
}

/// The store goes on knowing who was let in. A round that failed is made up for within a week; after
/// that even Redis has forgotten the room by itself.
async fn forget_rooms(platform: &Platform, now: Timestamp) -> Result<()> {
    for schedule in platform.store.schedules_ended(now.minus(DAY * 8), now.minus(DAY)).await? {
        platform.queue.remove(schedule).await?;
        platform.progress.forget(schedule);
        platform.waits.forget(schedule);
    }
    Ok(())
}
