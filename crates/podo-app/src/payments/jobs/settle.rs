//! Settles payments with an unknown outcome: queries the gateway, then voids, and only then
//! releases the seats.

use crate::context::AppContext;
use crate::error::Result;
use crate::operations::jobs::{Round, SETTLE, put_off};
use crate::payments::port::gateway::Answered;
use crate::payments::port::payments::{NeverMade, Settled, Unsettled};
use crate::payments::port::wallets::SettledCharge;
use crate::payments::settle;
use crate::payments::wallet::settle_charge;
use podo_domain::Timestamp;
use podo_domain::payments::{Outcome, VOID_AFTER};
use std::time::Duration;

const ROUND_MAX: u32 = 100;

/// The interval between two queries about a payment.
const ASK_EVERY: Duration = Duration::from_secs(5);

/// How often, and for how long, payments that the gateway didn't know are looked up again.
const LOOK_AGAIN_EVERY: Duration = Duration::from_secs(5 * 60);
const LOOK_AGAIN_FOR: Duration = Duration::from_secs(2 * 60 * 60);

pub async fn settle_unknown_payments(context: &AppContext, now: Timestamp) -> Result<Round> {
    let asked_before = now.minus(ASK_EVERY);
    let open = context.store.take_unsettled(asked_before, now, ROUND_MAX).await?;
    let mut round = Round { is_full: open.len() >= ROUND_MAX as usize, ..Round::default() };
    for unsettled in open {
        let settled = settle_payment(context, &unsettled, now).await;
        count(context, &mut round, &unsettled, settled).await?;
    }
    for unsettled in context.store.take_unsettled_charges(asked_before, now, ROUND_MAX).await? {
        let settled = settle_wallet_charge(context, &unsettled, now).await;
        count(context, &mut round, &unsettled, settled).await?;
    }
    look_again(context, &mut round, now).await?;
    Ok(round)
}

/// A gateway that doesn't know a payment may still charge it if our request arrives late. Not every
/// gateway can prevent that, and not all of them send webhooks, so these payments are looked up
/// again for a while, and a late charge is refunded.
async fn look_again(context: &AppContext, round: &mut Round, now: Timestamp) -> Result<()> {
    let asked = NeverMade {
        asked_before: now.minus(LOOK_AGAIN_EVERY),
        requested_after: now.minus(LOOK_AGAIN_FOR),
        now,
        limit: ROUND_MAX,
    };
    for unsettled in context.store.take_never_made(asked).await? {
        let ask = &unsettled.ask;
        let Ok(gateway) = context.gateway(&ask.gateway) else { continue };
        let mut answered = gateway.find(ask, now).await;
        // An account that was issued after all: no order waits for its money.
        if let Outcome::AwaitingDeposit(_) = answered.outcome {
            answered = gateway.void(ask, now).await;
        }
        if let Outcome::Captured { .. } = answered.outcome {
            let settled = settle(context, ask, answered).await.map(|_| true);
            count(context, round, &unsettled, settled).await?;
        }
    }
    Ok(())
}

/// Counts one payment. A failure, such as a gateway that is no longer configured, is postponed.
async fn count(
    context: &AppContext,
    round: &mut Round,
    unsettled: &Unsettled,
    settled: Result<bool>,
) -> Result<()> {
    match settled {
        Ok(true) => round.done += 1,
        Ok(false) => round.failed += 1,
        Err(error) => {
            put_off(context, SETTLE, unsettled.ask.payment.uuid(), &error).await?;
            round.failed += 1;
        }
    }
    Ok(())
}

/// Returns whether the outcome is known now.
async fn settle_payment(
    context: &AppContext,
    unsettled: &Unsettled,
    now: Timestamp,
) -> Result<bool> {
    let answered = ask_or_void(context, unsettled, now).await?;
    Ok(match settle(context, &unsettled.ask, answered).await? {
        Settled::StillUnknown | Settled::Before(_) => false,
        Settled::Sold(_)
        | Settled::Awaiting(_)
        | Settled::Declined { .. }
        | Settled::RefundDue { .. } => true,
    })
}

async fn settle_wallet_charge(
    context: &AppContext,
    unsettled: &Unsettled,
    now: Timestamp,
) -> Result<bool> {
    let answered = ask_or_void(context, unsettled, now).await?;
    Ok(match settle_charge(context, &unsettled.ask, answered).await? {
        SettledCharge::StillUnknown | SettledCharge::Before(_) => false,
        SettledCharge::Charged(_) | SettledCharge::Declined { .. } => true,
    })
}

async fn ask_or_void(
    context: &AppContext,
    unsettled: &Unsettled,
    now: Timestamp,
) -> Result<Answered> {
    let ask = &unsettled.ask;
    let gateway = context.gateway(&ask.gateway)?;
    let mut answered = gateway.find(ask, now).await;
    let is_too_long = unsettled.first_asked_at.plus(VOID_AFTER) <= now;
    if answered.outcome == Outcome::Unknown && is_too_long {
        answered = gateway.void(ask, now).await;
    }
    Ok(answered)
}
