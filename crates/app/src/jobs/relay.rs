//! Publishes what the outbox holds, in order per aggregate.

use super::Round;
use crate::error::{Error, Result};
use crate::messages::wrap;
use crate::platform::Platform;
use crate::points;
use crate::ports::messages::Message;
use domain::messages::ATTEMPTS_MAX;
use domain::{MessageId, Timestamp};
use futures::stream::{self, StreamExt};
use std::collections::HashMap;

const ROUND_MAX: u32 = 500;

/// How many aggregates are published at once: they share the bus's batches, and in the process the
/// commits of the workers.
const AT_ONCE: usize = 500;

/// A message that cannot be published is tried again later; the later ones of its aggregate wait
/// for it, everybody else's go on.
pub async fn relay_messages(platform: &Platform, now: Timestamp) -> Result<Round> {
    let (due, n_unreadable) = due_messages(platform, now).await?;
    let is_full = due.len() >= ROUND_MAX as usize;
    let results: Vec<Published> = stream::iter(by_aggregate(due))
        .map(|messages| publish_in_order(platform, messages, now))
        .buffer_unordered(AT_ONCE)
        .collect()
        .await;
    let failed = n_unreadable + results.iter().filter(|it| it.is_stuck).count() as u64;
    if failed > 0 {
        tracing::warn!(failed, "Messages were not published; they are tried again");
    }
    let mut not_noted = None;
    let mut published: Vec<MessageId> = Vec::new();
    for result in results {
        published.extend(result.messages);
        not_noted = not_noted.or(result.not_noted);
    }
    let done = published.len() as u64;
    // What was published is marked before anything else is said about the round.
    if !published.is_empty() {
        points::reach(points::PUBLISHED);
        platform.store.messages_published(published, now).await?;
    }
    match not_noted {
        Some(error) => Err(error),
        None => Ok(Round { done, failed, is_full }),
    }
}

/// What is due, without what this version cannot read; and how many that was.
async fn due_messages(platform: &Platform, now: Timestamp) -> Result<(Vec<Message>, u64)> {
    match platform.store.due_messages(now, ROUND_MAX).await {
        Err(Error::Broken(_)) => {
            let n_unreadable = platform.store.put_off_unreadable(now, ROUND_MAX).await?;
            Ok((platform.store.due_messages(now, ROUND_MAX).await?, n_unreadable))
        }
        due => Ok((due?, 0)),
    }
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
    /// The store did not take note that one of them failed.
    not_noted: Option<Error>,
}

async fn publish_in_order(
    platform: &Platform,
    messages: Vec<Message>,
    now: Timestamp,
) -> Published {
    let mut published = Vec::with_capacity(messages.len());
    for message in messages {
        if let Err(error) = publish(platform, &message).await {
            if message.attempts + 1 >= ATTEMPTS_MAX {
                tracing::error!(message.id = %message.id, %error,
                    "A message is set aside after its last try; see `podo admin dlq list`");
            } else {
                tracing::debug!(message.id = %message.id, %error, "A message was not published");
            }
            let noted = platform.store.message_failed(&message, error.to_string(), now).await;
            return Published { messages: published, is_stuck: true, not_noted: noted.err() };
        }
        published.push(message.id);
    }
    Published { messages: published, is_stuck: false, not_noted: None }
}

async fn publish(platform: &Platform, message: &Message) -> Result<()> {
    platform.bus.publish(&wrap(message)?).await
}
