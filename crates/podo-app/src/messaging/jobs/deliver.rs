//! Delivers messages to organisers' webhook endpoints.

use crate::context::AppContext;
use crate::error::Result;
use crate::messaging::port::webhook_endpoints::Delivery;
use crate::messaging::webhook_endpoints::{deliver, note_failure};
use crate::operations::jobs::Round;
use futures::stream::{self, StreamExt, TryStreamExt};
use podo_domain::Timestamp;
use std::time::Duration;

const ROUND_MAX: u32 = 100;

/// Concurrent deliveries.
const AT_ONCE: usize = 16;

/// Longer than a round can take; after that another worker may try.
const TAKEN_FOR: Duration = Duration::from_secs(5 * 60);

/// Safe on several nodes, because each delivery is claimed by one of them.
pub async fn deliver_webhooks(context: &AppContext, now: Timestamp) -> Result<Round> {
    let until = now.plus(TAKEN_FOR);
    let due = context.store.take_deliveries(now, until, ROUND_MAX).await?;
    let is_full = due.len() >= ROUND_MAX as usize;
    let tried = stream::iter(due).map(|delivery| try_one(context, delivery));
    let went_well: Vec<bool> = tried.buffer_unordered(AT_ONCE).try_collect().await?;
    let done = went_well.iter().filter(|it| **it).count() as u64;
    Ok(Round { done, failed: went_well.len() as u64 - done, is_full })
}

/// A delivery that can't even be attempted, such as one whose secret can't be decrypted, counts as
/// a failed attempt.
async fn try_one(context: &AppContext, delivery: Delivery) -> Result<bool> {
    let (id, attempts) = (delivery.id, delivery.attempts);
    match deliver(context, delivery).await {
        Ok(went_well) => Ok(went_well),
        Err(error) => {
            tracing::warn!(delivery.id = %id, %error, "Webhook delivery could not be attempted");
            note_failure(context, id, attempts, error.to_string()).await?;
            Ok(false)
        }
    }
}
