//! What workers, or the relay, gave up: kept whole, until somebody replays or drops it.

use crate::error::Result;
use crate::paging::PageAsk;
use async_trait::async_trait;
use domain::{DeadLetterId, MessageId, Timestamp, UserId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The consumer of messages that could not be published.
pub const RELAY: &str = "relay";

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum DeadLetterStatus {
    /// Somebody has to look at it.
    Open,
    /// It is about to be tried again.
    Replay,
    /// It was tried again, and that worked.
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

/// A message set aside, with all that is needed to try it again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeadLetter {
    pub id: DeadLetterId,
    pub message_id: MessageId,
    /// Who gave it up; `relay` when it could not be published at all.
    pub consumer: String,
    pub topic: String,
    /// `unreadable` when it was no message of ours.
    #[serde(rename = "type")]
    pub kind: String,
    pub key: String,
    /// The message as it was on the bus.
    pub body: String,
    pub error: String,
    /// How often it was tried.
    pub attempts: u32,
    pub status: DeadLetterStatus,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// Sets a message aside for a consumer; the outside is told on the topic `dead-letter`.
#[derive(Clone, Debug)]
pub struct SetAside {
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
    /// Harmless to repeat: one row per message and consumer, open again if it was closed.
    async fn set_aside(&self, command: SetAside) -> Result<()>;

    /// Newest first; all of them or those with a status.
    async fn dead_letters(
        &self,
        status: Option<DeadLetterStatus>,
        page: PageAsk,
    ) -> Result<Vec<DeadLetter>>;

    async fn dead_letter(&self, id: DeadLetterId) -> Result<Option<DeadLetter>>;

    /// Replays or drops one that is open; noted in the audit log. Refusals: `NotFound`,
    /// `DeadLetterClosed`.
    async fn close_dead_letter(
        &self,
        id: DeadLetterId,
        verb: DeadLetterVerb,
        actor: UserId,
        now: Timestamp,
    ) -> Result<()>;

    /// Those that are to be tried again.
    async fn replays(&self, limit: u32) -> Result<Vec<DeadLetter>>;

    /// How a replay went; with an error it is open again.
    async fn finish_replay(
        &self,
        id: DeadLetterId,
        error: Option<String>,
        now: Timestamp,
    ) -> Result<()>;

    /// How many are open, by consumer.
    async fn open_dead_letters(&self) -> Result<Vec<(String, u64)>>;
}
