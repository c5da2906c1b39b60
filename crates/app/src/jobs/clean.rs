//! Forgets what nobody needs any more.

use super::Round;
use crate::error::Result;
use crate::platform::Platform;
use domain::Timestamp;
use std::time::Duration;

const ROUND_MAX: u32 = 1_000;
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Published messages after 7 days, processed marks after 30, idempotency keys after 3, waiting
/// rooms of schedules that ended a day ago.
pub async fn forget_old_rows(platform: &Platform, now: Timestamp) -> Result<Round> {
    forget_rooms(platform, now).await?;
    let (week, month) = (now.minus(DAY * 7), now.minus(DAY * 30));
    let n_messages = platform.store.forget_messages(week, month, ROUND_MAX).await?;
    let n_keys = platform.store.forget_keys(now.minus(DAY * 3), ROUND_MAX).await?;
    let most = u64::from(ROUND_MAX);
    Ok(Round { done: n_messages + n_keys, failed: 0, is_full: n_messages.max(n_keys) >= most })
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
