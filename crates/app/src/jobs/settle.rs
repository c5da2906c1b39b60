//! Finds out about payments whose outcome nobody knows: asks the gateway, then voids, and only
//! then lets go of the seats.

use super::Round;
use crate::error::Result;
use crate::payments::settle;
use crate::platform::Platform;
use crate::ports::payments::{Settled, Unsettled};
use domain::Timestamp;
use domain::payments::{Outcome, VOID_AFTER};
use std::time::Duration;

const ROUND_MAX: u32 = 100;

/// How long after the last question a payment is asked about again.
const ASK_EVERY: Duration = Duration::from_secs(5);

pub async fn settle_unknown_payments(platform: &Platform, now: Timestamp) -> Result<Round> {
    let asked_before = now.minus(ASK_EVERY);
    let open = platform.store.take_unsettled(asked_before, now, ROUND_MAX).await?;
    let mut round = Round { is_full: open.len() >= ROUND_MAX as usize, ..Round::default() };
    for unsettled in open {
        match settle_one(platform, &unsettled, now).await? {
            Settled::StillUnknown | Settled::Before(_) => round.failed += 1,
            Settled::Sold(_) | Settled::Declined { .. } | Settled::RefundDue { .. } => {
                round.done += 1;
            }
        }
    }
    Ok(round)
}

async fn settle_one(platform: &Platform, unsettled: &Unsettled, now: Timestamp) -> Result<Settled> {
    let ask = &unsettled.ask;
    let gateway = platform.gateway(&ask.gateway)?;
    let mut answered = gateway.find(ask, now).await;
    let is_too_long = unsettled.requested_at.plus(VOID_AFTER) <= now;
    if answered.outcome == Outcome::Unknown && is_too_long {
        answered = gateway.void(ask, now).await;
    }
    settle(platform, ask, answered).await
}
