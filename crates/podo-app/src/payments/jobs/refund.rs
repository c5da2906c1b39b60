//! Makes due refunds, one at a time.

use crate::context::AppContext;
use crate::error::Result;
use crate::operations::failpoints;
use crate::operations::jobs::Round;
use crate::payments::deposits::decrypt;
use crate::payments::port::gateway::{Gateway, RefundOutcome};
use crate::payments::port::payments::{DueRefund, PutOffRefund};
use podo_domain::Timestamp;
use podo_domain::messaging::messages::retry_delay_ms;
use podo_domain::payments::refunds::RefundStep;
use std::sync::Arc;
use std::time::Duration;

const ROUND_MAX: u64 = 100;

/// No other node tries the refund meanwhile. This exceeds the time of reading the gateway's
/// records, sending and asking again with every retry, at up to a minute per call.
const LEASE: Duration = Duration::from_secs(7 * 60);

/// A failed refund is retried with growing delays until it succeeds; it's never given up. The next
/// refund is taken only when the previous one is done, so that none waits on a busy node.
pub async fn make_refunds(context: &AppContext, _now: Timestamp) -> Result<Round> {
    let mut round = Round::default();
    while round.done + round.failed < ROUND_MAX {
        let now = context.now();
        let mut taken = context.store.take_due_refunds(now, now.plus(LEASE), 1).await?;
        let Some(refund) = taken.pop() else { return Ok(round) };
        let outcome = match make(context, &refund).await {
            Ok(outcome) => outcome,
            Err(error) => RefundOutcome::Later { why: error.to_string() },
        };
        match outcome {
            RefundOutcome::Refunded => round.done += 1,
            RefundOutcome::Later { why } => {
                put_off(context, &refund, why).await?;
                round.failed += 1;
            }
        }
    }
    round.is_full = true;
    Ok(round)
}

/// Not every gateway recognises a repeated refund, so this reads the gateway's records first and
/// stores what they show before it sends anything.
async fn make(context: &AppContext, refund: &DueRefund) -> Result<RefundOutcome> {
    let Ok(gateway) = context.gateway(&refund.gateway) else {
        let why = format!("the gateway `{}` is not configured", refund.gateway);
        return Ok(RefundOutcome::Later { why });
    };
    let Some(booked) = gateway.booked(&refund.ask(), context.now()).await else {
        let why = "the gateway's records cannot be read".to_owned();
        return Ok(RefundOutcome::Later { why });
    };
    let outcome = match refund.in_book.step(booked.captured, booked.refunded) {
        RefundStep::Made => RefundOutcome::Refunded,
        RefundStep::Wait { why } => RefundOutcome::Later { why: why.to_owned() },
        RefundStep::Send { book_before } => {
            let now = context.now();
            context.store.start_refund(refund, book_before, now.plus(LEASE), now).await?;
            let mut refund = refund.clone();
            refund.in_book.book_before = Some(book_before);
            send(context, gateway, &refund).await
        }
    };
    if outcome == RefundOutcome::Refunded {
        context.store.finish_refund(refund.refund, context.now()).await?;
    }
    Ok(outcome)
}

async fn send(
    context: &AppContext,
    gateway: &Arc<dyn Gateway>,
    refund: &DueRefund,
) -> RefundOutcome {
    let account = match &refund.account {
        Some(account) => match decrypt(context, refund.payment, account) {
            Ok(account) => Some(account),
            Err(error) => return RefundOutcome::Later { why: error.to_string() },
        },
        None => None,
    };
    failpoints::reach(failpoints::REFUND_BEFORE);
    let outcome = gateway.refund(refund, account.as_ref(), context.now()).await;
    failpoints::reach(failpoints::REFUND_AFTER);
    outcome
}

async fn put_off(context: &AppContext, refund: &DueRefund, error: String) -> Result<()> {
    tracing::warn!(refund.id = %refund.refund, why = error, "Refund postponed; it will be retried");
    let now = context.now();
    let delay = Duration::from_millis(retry_delay_ms(refund.attempts).unsigned_abs());
    let DueRefund { refund, attempts, .. } = *refund;
    let next_at = now.plus(delay);
    context.store.put_off_refund(PutOffRefund { refund, attempts, error, next_at, now }).await
}
