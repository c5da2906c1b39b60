//! Updates the stored sale status of dates as time passes.

use crate::context::AppContext;
use crate::error::Result;
use crate::operations::jobs::Round;
use podo_domain::Timestamp;

const ROUND_MAX: u32 = 500;

/// Pages compute the status from the clock; the stored one serves filters, reports and other
/// readers of the database.
pub async fn update_schedule_statuses(context: &AppContext, now: Timestamp) -> Result<Round> {
    let done = context.store.update_schedule_statuses(ROUND_MAX, now).await?;
    Ok(Round { done, is_full: done >= u64::from(ROUND_MAX), ..Round::default() })
}
