//! Finds out about payments whose outcome nobody knows: asks the gateway, then voids, and only
//! then lets go of the seats.

use super::Round;
use crate::error::Result;
use crate::payments::settle;
use crate::platform::Platform;
use crate::ports::gateway::Answered;
use crate::ports::payments::{Settled, Unsettled};
use crate::ports::wallets::SettledCharge;
use crate::wallet::settle_charge;
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
        let answered = ask_or_void(platform, &unsettled, now).await?;
        match settle(platform, &unsettled.ask, answered).await? {
            Settled::StillUnknown | Settled::Before(_) => round.failed += 1,
            Settled::Sold(_) | Settled::Declined { .. } | Settled::RefundDue { .. } => {
                round.done += 1;
            }
        }
    }
    for unsettled in platform.store.take_unsettled_charges(asked_before, now, ROUND_MAX).await? {
        let answered = ask_or_void(platform, &unsettled, now).await?;
        match settle_charge(platform, &unsettled.ask, answered).await? {
            SettledCharge::StillUnknown | SettledCharge::Before(_) => round.failed += 1,
            SettledCharge::Charged(_) | SettledCharge::Declined { .. } => round.done += 1,
        }
    }
    Ok(round)
}

async fn ask_or_void(
    platform: &Platform,
    unsettled: &Unsettled,
    now: Timestamp,
) -> Result<Answered> {
    let ask = &unsettled.ask;
    let gateway = platform.gateway(&ask.gateway)?;
    let mut answered = gateway.find(ask, now).await;
    let is_too_long = unsettled.requested_at.plus(VOID_AFTER) <= now;
    if answered.outcome == Outcome::Unknown && is_too_long {
        answered = gateway.void(ask, now).await;
    }
    Ok(answered)
}
