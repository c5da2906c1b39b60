//! Makes the refunds that are due.

use super::Round;
use crate::error::Result;
use crate::platform::Platform;
use crate::points;
use crate::ports::gateway::RefundOutcome;
use domain::Timestamp;
use domain::messages::retry_delay_ms;
use std::time::Duration;

const ROUND_MAX: u32 = 100;

/// While a refund is being made no other node tries it.
const LEASE: Duration = Duration::from_secs(60);

/// A refund that fails is tried again, more and more slowly, until it is made: never given up.
pub async fn make_refunds(platform: &Platform, now: Timestamp) -> Result<Round> {
    let due = platform.store.take_due_refunds(now, now.plus(LEASE), ROUND_MAX).await?;
    let mut round = Round { is_full: due.len() >= ROUND_MAX as usize, ..Round::default() };
    for refund in due {
        let gateway = platform.gateway(&refund.gateway)?;
        points::reach(points::REFUND_BEFORE);
        let outcome = gateway.refund(&refund, now).await;
        points::reach(points::REFUND_AFTER);
        match outcome {
            RefundOutcome::Refunded => {
                platform.store.finish_refund(refund.refund, now).await?;
                round.done += 1;
            }
            RefundOutcome::Later { why } => {
                tracing::warn!(refund.id = %refund.refund, why, "A refund must wait");
                let delay = Duration::from_millis(retry_delay_ms(refund.attempts).unsigned_abs());
                platform.store.put_off_refund(refund.refund, why, now.plus(delay), now).await?;
                round.failed += 1;
            }
        }
    }
    Ok(round)
}
