//! Plans reminders that are due, and turns announcements into one message per fan.

use crate::context::AppContext;
use crate::error::Result;
use crate::operations::jobs::{ANNOUNCE, Round, put_off};
use podo_domain::Timestamp;

/// Announcements in one round.
const ROUND_MAX: u32 = 20;

/// Fans of one announcement in one transaction.
const PAGE_MAX: u32 = 200;

/// Safe on several nodes: a page's messages and the position after it commit together.
pub async fn announce(context: &AppContext, now: Timestamp) -> Result<Round> {
    let mut round = Round::default();
    context.store.plan_reminders(now, ROUND_MAX).await?;
    for announcement in context.store.open_announcements(now, ROUND_MAX).await? {
        match context.store.announce_some(announcement.id, PAGE_MAX, now).await {
            Ok(n_told) => {
                round.done += n_told;
                round.is_full |= n_told > 0;
            }
            Err(crate::Error::Conflict(_)) => {}
            Err(error) => {
                put_off(context, ANNOUNCE, announcement.id.uuid(), &error).await?;
                round.failed += 1;
            }
        }
    }
    Ok(round)
}
