//! Dead letters: messages that a worker or the relay gave up, kept until they are replayed or
//! dropped.

use crate::error::Result;
use crate::store::PageRequest;
use async_trait::async_trait;
use podo_domain::{DeadLetterId, MessageId, Timestamp, UserId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The consumer of messages that couldn't be published.
pub const RELAY: &str = "relay";

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum DeadLetterStatus {
    /// Needs an operator's decision.
    Open,
    /// Queued for another attempt.
    Replay,
    /// Another attempt succeeded.
    Replayed,
    Dropped,
}

impl DeadLetterStatus {
    pub const ALL: [DeadLetterStatus; 4] = [
        DeadLetterStatus::Open,
        DeadLetterStatus::Replay,
        DeadLetterStatus::Replayed,
        DeadLetterStatus::Dropped,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            DeadLetterStatus::Open => "OPEN",
            DeadLetterStatus::Replay => "REPLAY",
            DeadLetterStatus::Replayed => "REPLAYED",
            DeadLetterStatus::Dropped => "DROPPED",
        }
    }

    pub fn parse(text: &str) -> Option<DeadLetterStatus> {
        DeadLetterStatus::ALL.into_iter().find(|status| status.as_str() == text)
    }
}

/// A dead letter, with everything needed to replay it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeadLetter {
    pub id: DeadLetterId,
    pub message_id: MessageId,
    /// The consumer that gave it up; `relay` if it could never be published.
    pub consumer: String,
    pub topic: String,
    /// `unreadable` if it wasn't one of our messages.
    #[serde(rename = "type")]
    pub kind: String,
    pub key: String,
    /// The message as it was on the bus.
    pub body: String,
    pub error: String,
    /// The number of attempts.
    pub attempts: u32,
    pub status: DeadLetterStatus,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// Dead-letters a message for a consumer, and announces it on the topic `dead-letter`.
#[derive(Clone, Debug)]
pub struct NewDeadLetter {
    pub message_id: MessageId,
    pub consumer: String,
    pub topic: String,
    pub kind: String,
    pub key: String,
    pub body: String,
    pub error: String,
    pub attempts: u32,
    pub now: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeadLetterVerb {
    Replay,
    Drop,
}

#[async_trait]
pub trait DeadLetters: Send + Sync {
    /// Idempotent: one row per message and consumer, reopened if it was closed.
    async fn add_dead_letter(&self, command: NewDeadLetter) -> Result<()>;

    /// Newest first; all of them or those with a status.
    async fn dead_letters(
        &self,
        status: Option<DeadLetterStatus>,
        page: PageRequest,
    ) -> Result<Vec<DeadLetter>>;

    async fn dead_letter(&self, id: DeadLetterId) -> Result<Option<DeadLetter>>;

    /// Replays or drops an open one and writes an audit entry. Refusals: `NotFound`,
    /// `DeadLetterClosed`.
    async fn close_dead_letter(
        &self,
        id: DeadLetterId,
        verb: DeadLetterVerb,
        actor: UserId,
        now: Timestamp,
    ) -> Result<()>;

    /// Dead letters to replay.
    async fn replays(&self, limit: u32) -> Result<Vec<DeadLetter>>;

    /// The result of a replay; an error reopens the dead letter.
    async fn finish_replay(
        &self,
        id: DeadLetterId,
        error: Option<String>,
        now: Timestamp,
    ) -> Result<()>;

    /// How many are open, by consumer.
    async fn open_dead_letters(&self) -> Result<Vec<(String, u64)>>;
}
