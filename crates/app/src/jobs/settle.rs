//! Finds out about payments whose outcome nobody knows: asks the gateway, then voids, and only
//! then lets go of the seats.

use super::{Round, SETTLE, put_off};
use crate::error::Result;
use crate::payments::settle;
use crate::platform::Platform;
use crate::ports::gateway::Answered;
use crate::ports::payments::{NeverMade, Settled, Unsettled};
use crate::ports::wallets::SettledCharge;
use crate::wallet::settle_charge;
use domain::Timestamp;
use domain::payments::{Outcome, VOID_AFTER};
use std::time::Duration;

const ROUND_MAX: u32 = 100;

/// How long after the last question a payment is asked about again.
const ASK_EVERY: Duration = Duration::from_secs(5);

/// How often, and for how long, a payment that was never made is looked up again.
const LOOK_AGAIN_EVERY: Duration = Duration::from_secs(5 * 60);
const LOOK_AGAIN_FOR: Duration = Duration::from_secs(2 * 60 * 60);

pub async fn settle_unknown_payments(platform: &Platform, now: Timestamp) -> Result<Round> {
    let asked_before = now.minus(ASK_EVERY);
    let open = platform.store.take_unsettled(asked_before, now, ROUND_MAX).await?;
    let mut round = Round { is_full: open.len() >= ROUND_MAX as usize, ..Round::default() };
    for unsettled in open {
        let settled = settle_payment(platform, &unsettled, now).await;
        count(platform, &mut round, &unsettled, settled).await?;
    }
    for unsettled in platform.store.take_unsettled_charges(asked_before, now, ROUND_MAX).await? {
        let settled = settle_wallet_charge(platform, &unsettled, now).await;
        count(platform, &mut round, &unsettled, settled).await?;
    }
    look_again(platform, &mut round, now).await?;
    Ok(round)
}

/// A gateway that did not know a payment may still make the charge, when our request reaches it late.
/// Not every gateway can forbid that, and not all of them send webhooks: so these payments are looked
/// up again for a while, and what was charged after all goes back.
async fn look_again(platform: &Platform, round: &mut Round, now: Timestamp) -> Result<()> {
    let asked = NeverMade {
        asked_before: now.minus(LOOK_AGAIN_EVERY),
        requested_after: now.minus(LOOK_AGAIN_FOR),
        now,
        limit: ROUND_MAX,
    };
    for unsettled in platform.store.take_never_made(asked).await? {
        let ask = &unsettled.ask;
        let Ok(gateway) = platform.gateway(&ask.gateway) else { continue };
        let answered = gateway.find(ask, now).await;
        if let Outcome::Captured { .. } = answered.outcome {
            let settled = settle(platform, ask, answered).await.map(|_| true);
            count(platform, round, &unsettled, settled).await?;
        }
    }
    Ok(())
}

/// Counts one payment; one that failed, as at a gateway that is not set up any more, is put off.
async fn count(
    platform: &Platform,
    round: &mut Round,
    unsettled: &Unsettled,
    settled: Result<bool>,
) -> Result<()> {
    match settled {
        Ok(true) => round.done += 1,
        Ok(false) => round.failed += 1,
        Err(error) => {
            put_off(platform, SETTLE, unsettled.ask.payment.uuid(), &error).await?;
            round.failed += 1;
        }
    }
    Ok(())
}

/// Whether the outcome is known now.
async fn settle_payment(
    platform: &Platform,
    unsettled: &Unsettled,
    now: Timestamp,
) -> Result<bool> {
    let answered = ask_or_void(platform, unsettled, now).await?;
    Ok(match settle(platform, &unsettled.ask, answered).await? {
        Settled::StillUnknown | Settled::Before(_) => false,
        Settled::Sold(_) | Settled::Declined { .. } | Settled::RefundDue { .. } => true,
    })
}

async fn settle_wallet_charge(
    platform: &Platform,
    unsettled: &Unsettled,
    now: Timestamp,
) -> Result<bool> {
    let answered = ask_or_void(platform, unsettled, now).await?;
    Ok(match settle_charge(platform, &unsettled.ask, answered).await? {
        SettledCharge::StillUnknown | SettledCharge::Before(_) => false,
        SettledCharge::Charged(_) | SettledCharge::Declined { .. } => true,
    })
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
