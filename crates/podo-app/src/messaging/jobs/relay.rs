//! Publishes the outbox, in order per aggregate.

use crate::context::AppContext;
use crate::error::{Error, Result};
use crate::messaging::envelope::encode;
use crate::messaging::port::messages::Message;
use crate::operations::failpoints;
use crate::operations::jobs::Round;
use futures::stream::{self, StreamExt};
use podo_domain::messaging::messages::ATTEMPTS_MAX;
use podo_domain::{MessageId, Timestamp};
use std::collections::HashMap;

const ROUND_MAX: u32 = 500;

/// How many aggregates are published concurrently: they share the bus's batches and, with the
/// in-process bus, the commits of the workers.
const AT_ONCE: usize = 500;

/// A message that can't be published is retried later. Later messages of its aggregate wait for it;
/// other aggregates continue.
pub async fn relay_messages(context: &AppContext, now: Timestamp) -> Result<Round> {
    let (due, n_unreadable) = due_messages(context, now).await?;
    let is_full = due.len() >= ROUND_MAX as usize;
    let results: Vec<Published> = stream::iter(by_aggregate(due))
        .map(|messages| publish_in_order(context, messages, now))
        .buffer_unordered(AT_ONCE)
        .collect()
        .await;
    let failed = n_unreadable + results.iter().filter(|it| it.is_stuck).count() as u64;
    if failed > 0 {
        tracing::warn!(failed, "Could not publish some messages; retrying later");
    }
    let mut not_noted = None;
    let mut published: Vec<MessageId> = Vec::new();
    for result in results {
        published.extend(result.messages);
        not_noted = not_noted.or(result.not_noted);
    }
    let done = published.len() as u64;
    // Published messages are marked before an error ends the round.
    if !published.is_empty() {
        failpoints::reach(failpoints::PUBLISHED);
        context.store.messages_published(published, now).await?;
    }
    match not_noted {
        Some(error) => Err(error),
        None => Ok(Round { done, failed, is_full }),
    }
}

/// The due messages that this version can read, and the number of those that it can't.
async fn due_messages(context: &AppContext, now: Timestamp) -> Result<(Vec<Message>, u64)> {
    match context.store.due_messages(now, ROUND_MAX).await {
        Err(Error::Broken(_)) => {
            let n_unreadable = context.store.put_off_unreadable(now, ROUND_MAX).await?;
            Ok((context.store.due_messages(now, ROUND_MAX).await?, n_unreadable))
        }
        due => Ok((due?, 0)),
    }
}

/// The messages grouped by aggregate, the longest-waiting first.
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

/// The result for one aggregate.
struct Published {
    messages: Vec<MessageId>,
    is_stuck: bool,
    /// The store failed to record that one of them failed.
    not_noted: Option<Error>,
}

async fn publish_in_order(
    context: &AppContext,
    messages: Vec<Message>,
    now: Timestamp,
) -> Published {
    let mut published = Vec::with_capacity(messages.len());
    for message in messages {
        if let Err(error) = publish(context, &message).await {
            if message.attempts + 1 >= ATTEMPTS_MAX {
                tracing::error!(message.id = %message.id, %error,
                    "Message dead-lettered after its last attempt; see `podo admin dlq list`");
            } else {
                tracing::debug!(message.id = %message.id, %error, "Could not publish a message");
            }
            let noted = context.store.message_failed(&message, error.to_string(), now).await;
            return Published { messages: published, is_stuck: true, not_noted: noted.err() };
        }
        published.push(message.id);
    }
    Published { messages: published, is_stuck: false, not_noted: None }
}

async fn publish(context: &AppContext, message: &Message) -> Result<()> {
    context.messaging.bus.publish(&encode(message)?).await
}
