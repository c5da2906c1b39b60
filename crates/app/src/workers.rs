//! Workers: what happens because of messages. Each is idempotent by the marks that it writes in its
//! own transaction.

mod booking;
mod hearing;
mod letters;
mod organisers;
mod tally;

pub use booking::Booking;
pub use hearing::{EAR, HEARD, hear};
pub use letters::Letters;
pub use organisers::TellOrganisers;
pub use tally::{Tallies, Tally};

use crate::error::{Error, Result};
use crate::jobs::Round;
use crate::messages::{kind_of, open};
use crate::platform::Platform;
use crate::points;
use crate::ports::bus::{Parcel, Subscription};
use crate::ports::dead_letters::{DeadLetter, SetAside};
use crate::ports::messages::Message;
use crate::traces::{Span, SpanKind, TraceParent};
use async_trait::async_trait;
use aws_lc_rs::digest::{SHA256, digest};
use domain::messages::{MessageKind, TRIES_MAX, Topic};
use domain::{MessageId, Timestamp};
use std::time::Duration;
use uuid::Uuid;

/// Most messages of one transaction.
const BATCH_MAX: usize = 500;

/// How long a worker waits for messages before it looks whether it should stop.
const PATIENCE: Duration = Duration::from_secs(1);

/// The name of what is no message of ours.
const UNREADABLE: &str = "unreadable";

#[async_trait]
pub trait Worker: Send + Sync {
    /// Its group on the bus, and the consumer in its marks.
    fn name(&self) -> &'static str;

    fn topics(&self) -> &'static [Topic];

    /// What it does something about; the rest is not even opened.
    fn wants(&self, kind: MessageKind) -> bool;

    /// Whether there is nothing that it could do about any message now.
    async fn is_idle(&self, _platform: &Platform) -> Result<bool> {
        Ok(false)
    }

    /// Does something about messages, all or nothing, each of them once however often it comes.
    async fn consume(&self, platform: &Platform, messages: &[Message]) -> Result<()>;
}

/// Every worker of the program.
pub static ALL: [&dyn Worker; 3] = [&Booking, &Letters, &TellOrganisers];

pub fn worker(name: &str) -> Option<&'static dyn Worker> {
    ALL.into_iter().find(|worker| worker.name() == name)
}

/// One round: takes messages, does what they ask for, and only then says so.
pub async fn work(
    platform: &Platform,
    worker: &dyn Worker,
    subscription: &mut dyn Subscription,
) -> Result<Round> {
    let parcels = subscription.receive(BATCH_MAX, PATIENCE).await?;
    if parcels.is_empty() {
        return Ok(Round::default());
    }
    match handle(platform, worker, &parcels).await {
        Ok(round) => {
            if round.done + round.failed > 0 {
                points::reach(points::WORKED);
            }
            subscription.commit().await?;
            platform.worker_tallies.add(worker.name(), round);
            Ok(round)
        }
        Err(error) => {
            subscription.rewind().await?;
            Err(error)
        }
    }
}

/// All messages in one transaction; when one of them spoils it, each in its own.
async fn handle(platform: &Platform, worker: &dyn Worker, parcels: &[Parcel]) -> Result<Round> {
    let mut round = Round::default();
    if worker.is_idle(platform).await? {
        return Ok(round);
    }
    let mut messages = Vec::new();
    for parcel in parcels {
        if kind_of(parcel).is_some_and(|kind| !worker.wants(kind)) {
            continue;
        }
        match open(parcel) {
            Ok(message) if !worker.wants(message.kind) => {}
            Ok(message) => messages.push((message, parcel)),
            Err(error) => {
                set_aside(platform, worker, parcel, None, (&error, 1)).await?;
                round.failed += 1;
            }
        }
    }
    if messages.is_empty() {
        return Ok(round);
    }
    let all: Vec<Message> = messages.iter().map(|(message, _)| message.clone()).collect();
    let started_at = platform.now();
    match worker.consume(platform, &all).await {
        Ok(()) => {
            round.done += all.len() as u64;
            record_spans(platform, worker, &all, started_at);
        }
        Err(error) if is_passing(&error) => return Err(error),
        Err(_spoiled) => {
            for (message, parcel) in messages {
                match try_one(platform, worker, &message, parcel).await? {
                    true => round.done += 1,
                    false => round.failed += 1,
                }
            }
        }
    }
    Ok(round)
}

/// Those who follow a request see what became of its messages.
fn record_spans(platform: &Platform, worker: &dyn Worker, done: &[Message], since: Timestamp) {
    let Some(spans) = &platform.spans else { return };
    let took_ms = (platform.now().ms() - since.ms()).max(0);
    for message in done {
        let parent = message.trace.as_deref().and_then(TraceParent::parse);
        let Some((parent, _)) = parent else { continue };
        spans.record(Span {
            at: TraceParent { trace: parent.trace, span: platform.chance.number() | 1 },
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

/// Whether it could be done; otherwise it was set aside.
async fn try_one(
    platform: &Platform,
    worker: &dyn Worker,
    message: &Message,
    parcel: &Parcel,
) -> Result<bool> {
    let mut n_tries = 0;
    loop {
        n_tries += 1;
        match worker.consume(platform, std::slice::from_ref(message)).await {
            Ok(()) => return Ok(true),
            Err(error) if is_passing(&error) => return Err(error),
            Err(error) if n_tries >= TRIES_MAX => {
                set_aside(platform, worker, parcel, Some(message), (&error, n_tries)).await?;
                return Ok(false);
            }
            Err(_again) => {}
        }
    }
}

/// The outside fails: the same will work later, and no message is to blame. A conflict is not of
/// this kind: a message that breaks a constraint conflicts for ever, and nothing behind it would go
/// on.
fn is_passing(error: &Error) -> bool {
    match error {
        Error::Unavailable(_) => true,
        Error::Conflict(_) | Error::Refused(_) | Error::Broken(_) => false,
    }
}

async fn set_aside(
    platform: &Platform,
    worker: &dyn Worker,
    parcel: &Parcel,
    message: Option<&Message>,
    (error, n_tries): (&Error, u32),
) -> Result<()> {
    let consumer = worker.name();
    let message_id = message.map_or_else(|| id_of(parcel), |message| message.id);
    tracing::error!(
        consumer, message.id = %message_id, %error,
        "A message was set aside; see `podo admin dlq show`, then replay or drop it"
    );
    let aside = SetAside {
        message_id,
        consumer: consumer.to_owned(),
        topic: parcel.topic.as_str().to_owned(),
        kind: message.map_or(UNREADABLE, |message| message.kind.as_str()).to_owned(),
        key: parcel.key.clone(),
        body: String::from_utf8_lossy(&parcel.body).into_owned(),
        error: error.to_string(),
        attempts: n_tries,
        now: platform.now(),
    };
    platform.store.set_aside(aside).await
}

/// The same id whenever the same nonsense comes.
fn id_of(parcel: &Parcel) -> MessageId {
    let text = [parcel.topic.as_str().as_bytes(), parcel.key.as_bytes(), &parcel.body].concat();
    let hash = digest(&SHA256, &text);
    let bytes = hash.as_ref()[..16].try_into().expect("SHA-256 gives 32 bytes");
    MessageId::new(Uuid::from_bytes(bytes))
}

/// Tries a message again that was set aside.
pub async fn replay(platform: &Platform, dead: &DeadLetter) -> Result<()> {
    let gone = || Error::Broken(format!("there is no worker `{}` any more", dead.consumer));
    let worker = worker(&dead.consumer).ok_or_else(gone)?;
    let topic = Topic::parse(&dead.topic)
        .ok_or_else(|| Error::Broken(format!("there is no topic `{}` any more", dead.topic)))?;
    let body = dead.body.clone().into_bytes();
    let parcel = Parcel { topic, key: dead.key.clone(), headers: Vec::new(), body };
    worker.consume(platform, &[open(&parcel)?]).await
}
