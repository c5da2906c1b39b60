//! Keeps the stored sale status of dates true as time passes.

use super::Round;
use crate::error::Result;
use crate::platform::Platform;
use domain::Timestamp;

const ROUND_MAX: u32 = 500;

/// Pages compute the status by the clock; the stored one serves filters, reports and other readers
/// of the database.
pub async fn update_schedule_statuses(platform: &Platform, now: Timestamp) -> Result<Round> {
    let done = platform.store.update_schedule_statuses(ROUND_MAX, now).await?;
    Ok(Round { done, is_full: done >= u64::from(ROUND_MAX), ..Round::default() })
}
