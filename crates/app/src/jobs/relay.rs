//! Publishes what the outbox holds, in order per aggregate.

use super::Round;
use crate::error::Result;
use crate::platform::Platform;
use domain::Timestamp;
use std::collections::HashSet;

const ROUND_MAX: u32 = 500;

/// A message that cannot be published is tried again later; the later ones of its aggregate wait
/// for it, everybody else's go on.
pub async fn relay_messages(platform: &Platform, now: Timestamp) -> Result<Round> {
    let due = platform.store.due_messages(now, ROUND_MAX).await?;
    let is_full = due.len() >= ROUND_MAX as usize;
    let mut published = Vec::with_capacity(due.len());
    let mut held_back = HashSet::new();
    let mut failed = 0;
    for message in due {
        if held_back.contains(&message.aggregate) {
            continue;
        }
        match platform.bus.publish(&message).await {
            Ok(()) => published.push(message.id),
            Err(error) => {
                tracing::warn!(message.id = %message.id, %error, "A message was not published");
                held_back.insert(message.aggregate);
                failed += 1;
                platform.store.message_failed(message.id, error.to_string(), now).await?;
            }
        }
    }
    let done = published.len() as u64;
    if !published.is_empty() {
        platform.store.messages_published(published, now).await?;
    }
    Ok(Round { done, failed, is_full })
}
