//! Workers process messages. Each is idempotent through the marks that it writes in its own
//! transaction.

mod booking;
mod cache_invalidator;
mod drafts;
mod notifications;
mod sales_count;
mod webhook_endpoints;

pub use booking::Booking;
pub use cache_invalidator::{CACHE_INVALIDATOR, INVALIDATING, invalidate_caches};
pub use notifications::NotificationWorker;
pub use sales_count::{RoundCounter, RoundCounters};
pub use webhook_endpoints::WebhookWorker;

use crate::context::AppContext;
use crate::error::{Error, Result};
use crate::messaging::envelope::{decode, kind_of};
use crate::messaging::port::bus::{Envelope, Subscription};
use crate::messaging::port::dead_letters::{DeadLetter, NewDeadLetter};
use crate::messaging::port::messages::Message;
use crate::operations::failpoints;
use crate::operations::jobs::Round;
use crate::operations::traces::{Span, SpanKind, TraceParent};
use async_trait::async_trait;
use aws_lc_rs::digest::{SHA256, digest};
use podo_domain::messaging::messages::{MessageKind, TRIES_MAX, Topic};
use podo_domain::{MessageId, Timestamp};
use std::time::Duration;
use uuid::Uuid;

/// Most messages in one transaction.
const BATCH_MAX: usize = 500;

/// How long a worker waits for messages before it checks for shutdown.
const PATIENCE: Duration = Duration::from_secs(1);

/// The kind of a message that isn't ours.
const UNREADABLE: &str = "unreadable";

#[async_trait]
pub trait Worker: Send + Sync {
    /// Its group on the bus, and the consumer name in its marks.
    fn name(&self) -> &'static str;

    fn topics(&self) -> &'static [Topic];

    /// The kinds that it processes; others aren't decoded.
    fn wants(&self, kind: MessageKind) -> bool;

    /// Whether no message can cause any work now.
    async fn is_idle(&self, _context: &AppContext) -> Result<bool> {
        Ok(false)
    }

    /// Processes messages, all or nothing, each of them once however often it is delivered.
    async fn consume(&self, context: &AppContext, messages: &[Message]) -> Result<()>;
}

/// Every worker of the platform.
pub static ALL: [&dyn Worker; 3] = [&Booking, &NotificationWorker, &WebhookWorker];

pub fn worker(name: &str) -> Option<&'static dyn Worker> {
    ALL.into_iter().find(|worker| worker.name() == name)
}

/// One round: receives messages, processes them, and only then commits.
pub async fn work(
    context: &AppContext,
    worker: &dyn Worker,
    subscription: &mut dyn Subscription,
) -> Result<Round> {
    let envelopes = subscription.receive(BATCH_MAX, PATIENCE).await?;
    if envelopes.is_empty() {
        return Ok(Round::default());
    }
    match handle(context, worker, &envelopes).await {
        Ok(round) => {
            if round.done + round.failed > 0 {
                failpoints::reach(failpoints::WORKED);
            }
            subscription.commit().await?;
            context.messaging.worker_rounds.add(worker.name(), round);
            Ok(round)
        }
        Err(error) => {
            subscription.rewind().await?;
            Err(error)
        }
    }
}

/// Processes all messages in one transaction; if one of them fails it, each in its own.
async fn handle(
    context: &AppContext,
    worker: &dyn Worker,
    envelopes: &[Envelope],
) -> Result<Round> {
    let mut round = Round::default();
    if worker.is_idle(context).await? {
        return Ok(round);
    }
    let mut messages = Vec::new();
    for envelope in envelopes {
        if kind_of(envelope).is_some_and(|kind| !worker.wants(kind)) {
            continue;
        }
        match decode(envelope) {
            Ok(message) if !worker.wants(message.kind) => {}
            Ok(message) => messages.push((message, envelope)),
            Err(error) => {
                dead_letter(context, worker, envelope, None, &error, 1).await?;
                round.failed += 1;
            }
        }
    }
    if messages.is_empty() {
        return Ok(round);
    }
    let all: Vec<Message> = messages.iter().map(|(message, _)| message.clone()).collect();
    let started_at = context.now();
    match worker.consume(context, &all).await {
        Ok(()) => {
            round.done += all.len() as u64;
            record_spans(context, worker, &all, started_at);
        }
        Err(error) if is_passing(&error) => return Err(error),
        Err(_spoiled) => {
            for (message, envelope) in messages {
                match try_one(context, worker, &message, envelope).await? {
                    true => round.done += 1,
                    false => round.failed += 1,
                }
            }
        }
    }
    Ok(round)
}

/// Makes the processing of a request's messages visible in its trace.
fn record_spans(context: &AppContext, worker: &dyn Worker, done: &[Message], since: Timestamp) {
    let Some(spans) = &context.spans else { return };
    let took_ms = (context.now().ms() - since.ms()).max(0);
    for message in done {
        let parent = message.trace.as_deref().and_then(TraceParent::parse);
        let Some((parent, _)) = parent else { continue };
        spans.record(Span {
            at: TraceParent { trace: parent.trace, span: context.rng.number() | 1 },
            parent: Some(parent.span),
            name: format!("{} {}", worker.name(), message.kind.as_str()),
            kind: SpanKind::Consumer,
            started_at: since,
            took_us: took_ms.unsigned_abs() * 1_000,
            is_failed: false,
            attributes: vec![
                ("messaging.destination.name", message.topic.as_str().to_owned()),
                ("messaging.consumer.group.name", worker.name().to_owned()),
                ("messaging.message.id", message.id.to_string()),
            ],
        });
    }
}

/// Returns whether the message was processed; otherwise it was dead-lettered.
async fn try_one(
    context: &AppContext,
    worker: &dyn Worker,
    message: &Message,
    envelope: &Envelope,
) -> Result<bool> {
    let mut n_tries = 0;
    loop {
        n_tries += 1;
        match worker.consume(context, std::slice::from_ref(message)).await {
            Ok(()) => return Ok(true),
            Err(error) if is_passing(&error) => return Err(error),
            Err(error) if n_tries >= TRIES_MAX => {
                dead_letter(context, worker, envelope, Some(message), &error, n_tries).await?;
                return Ok(false);
            }
            Err(_again) => {}
        }
    }
}

/// Whether the error is transient: an external service failed, and no message is at fault. A
/// conflict doesn't count, because a message that violates a constraint conflicts forever and would
/// block everything behind it.
fn is_passing(error: &Error) -> bool {
    match error {
        Error::Unavailable(_) => true,
        Error::Conflict(_) | Error::Refused(_) | Error::Broken(_) => false,
    }
}

async fn dead_letter(
    context: &AppContext,
    worker: &dyn Worker,
    envelope: &Envelope,
    message: Option<&Message>,
    error: &Error,
    n_tries: u32,
) -> Result<()> {
    let consumer = worker.name();
    let message_id = message.map_or_else(|| id_of(envelope), |message| message.id);
    tracing::error!(
        consumer, message.id = %message_id, %error,
        "Message dead-lettered; see `podo admin dlq show`, then replay or drop it"
    );
    let dead_letter = NewDeadLetter {
        message_id,
        consumer: consumer.to_owned(),
        topic: envelope.topic.as_str().to_owned(),
        kind: message.map_or(UNREADABLE, |message| message.kind.as_str()).to_owned(),
        key: envelope.key.clone(),
        body: String::from_utf8_lossy(&envelope.body).into_owned(),
        error: error.to_string(),
        attempts: n_tries,
        now: context.now(),
    };
    context.store.add_dead_letter(dead_letter).await
}

/// The same id whenever the same unreadable envelope arrives.
fn id_of(envelope: &Envelope) -> MessageId {
    let text =
        [envelope.topic.as_str().as_bytes(), envelope.key.as_bytes(), &envelope.body].concat();
    let hash = digest(&SHA256, &text);
    let bytes = hash.as_ref()[..16].try_into().expect("SHA-256 gives 32 bytes");
    MessageId::new(Uuid::from_bytes(bytes))
}

/// Processes a dead letter again.
pub async fn replay(context: &AppContext, dead: &DeadLetter) -> Result<()> {
    let gone = || Error::Broken(format!("worker `{}` no longer exists", dead.consumer));
    let worker = worker(&dead.consumer).ok_or_else(gone)?;
    let topic = Topic::parse(&dead.topic)
        .ok_or_else(|| Error::Broken(format!("topic `{}` no longer exists", dead.topic)))?;
    let body = dead.body.clone().into_bytes();
    let envelope = Envelope { topic, key: dead.key.clone(), headers: Vec::new(), body };
    worker.consume(context, &[decode(&envelope)?]).await
}
