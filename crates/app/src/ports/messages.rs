//! The outbox, what consumers did with it, and the mailbox.

use super::notifications::Notice;
use crate::error::Result;
use async_trait::async_trait;
use domain::messages::{MessageKind, Topic};
use domain::{MessageId, Timestamp, UserId};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

/// A message as it is published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub id: MessageId,
    pub aggregate: Uuid,
    pub seq: i64,
    pub topic: Topic,
    pub kind: MessageKind,
    /// Messages with one key keep their order.
    pub key: Uuid,
    /// JSON.
    pub payload: String,
    pub attempts: u32,
    pub created_at: Timestamp,
    /// The trace of the request that it comes from, if that is followed.
    pub trace: Option<String>,
}

/// A letter for one fan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Letter {
    #[serde(skip)]
    #[schema(ignore)]
    pub user: Option<UserId>,
    pub subject: String,
    pub body: String,
    pub created_at: Timestamp,
}

/// What a consumer does with a message, in its own transaction.
#[derive(Clone, Debug)]
pub struct Consume {
    pub message: MessageId,
    pub consumer: &'static str,
    pub letters: Vec<Letter>,
    pub notices: Vec<Notice>,
    pub now: Timestamp,
}

#[async_trait]
pub trait Messages: Send + Sync {
    /// Pending messages in the order of their making, behind no earlier pending message of the
    /// same aggregate; those put off until later are left out together with what follows them.
    /// Fails when one of them cannot be read.
    async fn due_messages(&self, now: Timestamp, limit: u32) -> Result<Vec<Message>>;

    /// Puts off those of them that cannot be read, as of a newer version that runs beside this one;
    /// how many. They are never set aside: a node that can read them publishes them.
    async fn put_off_unreadable(&self, now: Timestamp, limit: u32) -> Result<u64>;

    /// Resolves when a message was written since the last time: in this process, or in another
    /// that `hear_others` heard of.
    async fn written(&self);

    /// Waits until a message was written in this process, and tells the others. Waits for ever
    /// where there are no others.
    async fn tell_others(&self) -> Result<()>;

    /// Hears what others tell until the line is lost. Waits for ever where there are no others.
    async fn hear_others(&self) -> Result<()>;

    async fn messages_published(&self, messages: Vec<MessageId>, now: Timestamp) -> Result<()>;

    /// Puts a message off, or sets it aside as DEAD when it has failed too often.
    async fn message_failed(&self, message: &Message, error: String, now: Timestamp) -> Result<()>;

    /// All of it or nothing. Each is false when its consumer has seen the message before.
    async fn consume(&self, commands: Vec<Consume>) -> Result<Vec<bool>>;

    async fn mailbox(&self, user: UserId, limit: u32) -> Result<Vec<Letter>>;

    /// Forgets what was published, and what was done about messages, before these moments; says how
    /// many rows.
    async fn forget_messages(
        &self,
        published_before: Timestamp,
        done_before: Timestamp,
        limit: u32,
    ) -> Result<u64>;

    /// How many messages are pending and dead, and how old the oldest pending one is.
    async fn backlog(&self) -> Result<Backlog>;
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    pub pending: u64,
    pub dead: u64,
    pub oldest_pending_at: Option<Timestamp>,
}
