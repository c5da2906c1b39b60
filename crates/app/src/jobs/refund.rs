//! Makes the refunds that are due, each by itself.

use super::Round;
use crate::error::Result;
use crate::platform::Platform;
use crate::points;
use crate::ports::gateway::{Gateway, RefundOutcome};
use crate::ports::payments::{DueRefund, PutOffRefund};
use domain::Timestamp;
use domain::messages::retry_delay_ms;
use domain::refunds::RefundStep;
use std::sync::Arc;
use std::time::Duration;

const ROUND_MAX: u64 = 100;

/// While a refund is being made no other node tries it: longer than asking for the book, sending and
/// asking again can take with every repeat, at a gateway that may take a minute for each.
const LEASE: Duration = Duration::from_secs(7 * 60);

/// A refund that fails is tried again, more and more slowly, until it is made: never given up. One is
/// taken when the one before is done, so that none waits in the hands of a node that is busy.
pub async fn make_refunds(platform: &Platform, _now: Timestamp) -> Result<Round> {
    let mut round = Round::default();
    while round.done + round.failed < ROUND_MAX {
        let now = platform.now();
        let mut taken = platform.store.take_due_refunds(now, now.plus(LEASE), 1).await?;
        let Some(refund) = taken.pop() else { return Ok(round) };
        let outcome = match make(platform, &refund).await {
            Ok(outcome) => outcome,
            Err(error) => RefundOutcome::Later { why: error.to_string() },
        };
        match outcome {
            RefundOutcome::Refunded => round.done += 1,
            RefundOutcome::Later { why } => {
                put_off(platform, &refund, why).await?;
                round.failed += 1;
            }
        }
    }
    round.is_full = true;
    Ok(round)
}

/// Not every gateway knows a refund again that it has made: so its book is asked before, and what it
/// shows is remembered before anything is sent.
async fn make(platform: &Platform, refund: &DueRefund) -> Result<RefundOutcome> {
    let Ok(gateway) = platform.gateway(&refund.gateway) else {
        let why = format!("the gateway `{}` is not set up", refund.gateway);
        return Ok(RefundOutcome::Later { why });
    };
    let Some(booked) = gateway.booked(&refund.ask(), platform.now()).await else {
        let why = "the gateway's book cannot be read".to_owned();
        return Ok(RefundOutcome::Later { why });
    };
    let outcome = match refund.in_book.step(booked.captured, booked.refunded) {
        RefundStep::Made => RefundOutcome::Refunded,
        RefundStep::Wait { why } => RefundOutcome::Later { why: why.to_owned() },
        RefundStep::Send { book_before } => {
            let now = platform.now();
            platform.store.start_refund(refund, book_before, now.plus(LEASE), now).await?;
            let mut refund = refund.clone();
            refund.in_book.book_before = Some(book_before);
            send(platform, gateway, &refund).await
        }
    };
    if outcome == RefundOutcome::Refunded {
        platform.store.finish_refund(refund.refund, platform.now()).await?;
    }
    Ok(outcome)
}

async fn send(
    platform: &Platform,
    gateway: &Arc<dyn Gateway>,
    refund: &DueRefund,
) -> RefundOutcome {
    points::reach(points::REFUND_BEFORE);
    let outcome = gateway.refund(refund, platform.now()).await;
    points::reach(points::REFUND_AFTER);
    outcome
}

async fn put_off(platform: &Platform, refund: &DueRefund, error: String) -> Result<()> {
    tracing::warn!(refund.id = %refund.refund, why = error, "A refund must wait");
    let now = platform.now();
    let delay = Duration::from_millis(retry_delay_ms(refund.attempts).unsigned_abs());
    let DueRefund { refund, attempts, .. } = *refund;
    let next_at = now.plus(delay);
    platform.store.put_off_refund(PutOffRefund { refund, attempts, error, next_at, now }).await
}
