//! Publishes what the outbox holds, in order per aggregate.

use super::Round;
use crate::error::Result;
use crate::messages::wrap;
use crate::platform::Platform;
use crate::points;
use crate::ports::messages::Message;
use domain::messages::ATTEMPTS_MAX;
use domain::{MessageId, Timestamp};
use futures::stream::{self, StreamExt, TryStreamExt};
use std::collections::HashMap;

const ROUND_MAX: u32 = 500;

/// How many aggregates are published at once: they share the bus's batches, and in the process the
/// commits of the workers.
const AT_ONCE: usize = 500;

/// A message that cannot be published is tried again later; the later ones of its aggregate wait
/// for it, everybody else's go on.
pub async fn relay_messages(platform: &Platform, now: Timestamp) -> Result<Round> {
    let due = platform.store.due_messages(now, ROUND_MAX).await?;
    let is_full = due.len() >= ROUND_MAX as usize;
    let results: Vec<Published> = stream::iter(by_aggregate(due))
        .map(|messages| publish_in_order(platform, messages, now))
        .buffer_unordered(AT_ONCE)
        .try_collect()
        .await?;
    let failed = results.iter().filter(|published| published.is_stuck).count() as u64;
    if failed > 0 {
        tracing::warn!(failed, "Messages were not published; they are tried again");
    }
    let published: Vec<MessageId> = results.into_iter().flat_map(|it| it.messages).collect();
    let done = published.len() as u64;
    if !published.is_empty() {
        points::reach(points::PUBLISHED);
        platform.store.messages_published(published, now).await?;
    }
    Ok(Round { done, failed, is_full })
}

/// The messages of each aggregate, those that wait longest first.
fn by_aggregate(due: Vec<Message>) -> Vec<Vec<Message>> {
    let mut groups: Vec<Vec<Message>> = Vec::new();
    let mut known = HashMap::new();
    for message in due {
        let index = *known.entry(message.aggregate).or_insert(groups.len());
        match groups.get_mut(index) {
            Some(group) => group.push(message),
            None => groups.push(vec![message]),
        }
    }
    groups
}

/// What became of one aggregate's messages.
struct Published {
    messages: Vec<MessageId>,
    is_stuck: bool,
}

async fn publish_in_order(
    platform: &Platform,
    messages: Vec<Message>,
    now: Timestamp,
) -> Result<Published> {
    let mut published = Vec::with_capacity(messages.len());
    for message in messages {
        let parcel = wrap(&message)?;
        if let Err(error) = platform.bus.publish(&parcel).await {
            if message.attempts + 1 >= ATTEMPTS_MAX {
                tracing::error!(message.id = %message.id, %error,
                    "A message is set aside after its last try; see `podo admin dlq list`");
            } else {
                tracing::debug!(message.id = %message.id, %error, "A message was not published");
            }
            platform.store.message_failed(&message, error.to_string(), now).await?;
            return Ok(Published { messages: published, is_stuck: true });
        }
        published.push(message.id);
    }
    Ok(Published { messages: published, is_stuck: false })
}
