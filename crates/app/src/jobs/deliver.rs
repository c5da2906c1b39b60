//! Delivers messages to organisers' servers.

use super::Round;
use crate::error::Result;
use crate::organisers::{deliver, note_failure};
use crate::platform::Platform;
use crate::ports::organisers::Delivery;
use domain::Timestamp;
use futures::stream::{self, StreamExt, TryStreamExt};
use std::time::Duration;

const ROUND_MAX: u32 = 100;

/// Deliveries on their way at once.
const AT_ONCE: usize = 16;

/// Longer than a round can take; then another hand may try.
const TAKEN_FOR: Duration = Duration::from_secs(5 * 60);

/// Many nodes may do it at once: each delivery is taken by one of them.
pub async fn deliver_webhooks(platform: &Platform, now: Timestamp) -> Result<Round> {
    let until = now.plus(TAKEN_FOR);
    let due = platform.store.take_deliveries(now, until, ROUND_MAX).await?;
    let is_full = due.len() >= ROUND_MAX as usize;
    let tried = stream::iter(due).map(|delivery| try_one(platform, delivery));
    let went_well: Vec<bool> = tried.buffer_unordered(AT_ONCE).try_collect().await?;
    let done = went_well.iter().filter(|it| **it).count() as u64;
    Ok(Round { done, failed: went_well.len() as u64 - done, is_full })
}

/// One that cannot even be tried, as with a secret that no key opens, counts as a try that failed.
async fn try_one(platform: &Platform, delivery: Delivery) -> Result<bool> {
    let (id, attempts) = (delivery.id, delivery.attempts);
    match deliver(platform, delivery).await {
        Ok(went_well) => Ok(went_well),
        Err(error) => {
            tracing::warn!(delivery.id = %id, %error, "A delivery cannot be made");
            note_failure(platform, (id, attempts), error.to_string()).await?;
            Ok(false)
        }
    }
}
