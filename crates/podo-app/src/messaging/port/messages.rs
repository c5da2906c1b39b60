//! The outbox, the marks of its consumers, and the mailbox.

use crate::error::Result;
use crate::messaging::port::notifications::Notice;
use async_trait::async_trait;
use podo_domain::messaging::messages::{MessageKind, Topic};
use podo_domain::{MessageId, ReservationId, Timestamp, UserId};
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
    /// Messages with the same key keep their order.
    pub key: Uuid,
    /// JSON.
    pub payload: String,
    pub attempts: u32,
    pub created_at: Timestamp,
    /// The trace of the request that caused it, if sampled.
    pub trace: Option<String>,
}

/// A notification in one fan's mailbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Letter)]
pub struct Notification {
    #[serde(skip)]
    #[schema(ignore)]
    pub user: Option<UserId>,
    /// The booking that it is about.
    #[serde(skip)]
    #[schema(ignore)]
    pub reservation: Option<ReservationId>,
    pub subject: String,
    pub body: String,
    pub created_at: Timestamp,
}

/// What a consumer does with a message, in its own transaction.
#[derive(Clone, Debug)]
pub struct Consume {
    pub message: MessageId,
    pub consumer: &'static str,
    pub notifications: Vec<Notification>,
    pub notices: Vec<Notice>,
    pub now: Timestamp,
}

#[async_trait]
pub trait Messages: Send + Sync {
    /// Pending messages in order of creation, without those behind an earlier pending message of
    /// the same aggregate; postponed messages are left out together with their successors. Fails if
    /// one of them can't be read.
    async fn due_messages(&self, now: Timestamp, limit: u32) -> Result<Vec<Message>>;

    /// Postpones messages that this version can't read, because a newer version runs beside it;
    /// returns how many. They are never dead-lettered: a node that can read them publishes them.
    async fn put_off_unreadable(&self, now: Timestamp, limit: u32) -> Result<u64>;

    /// Resolves when a message has been written since the last call, in this process or in another
    /// one that `listen` reported.
    async fn written(&self);

    /// Waits until a message is written in this process and notifies the other processes. Waits
    /// forever if there are none.
    async fn notify_others(&self) -> Result<()>;

    /// Receives notifications of other processes until the connection is lost. Waits forever if
    /// there are none.
    async fn listen(&self) -> Result<()>;

    async fn messages_published(&self, messages: Vec<MessageId>, now: Timestamp) -> Result<()>;

    /// Postpones a message, or marks it as DEAD after too many failures.
    async fn message_failed(&self, message: &Message, error: String, now: Timestamp) -> Result<()>;

    /// All or nothing. Each result is false if its consumer has processed the message before.
    async fn consume(&self, commands: Vec<Consume>) -> Result<Vec<bool>>;

    async fn mailbox(&self, user: UserId, limit: u32) -> Result<Vec<Notification>>;

    /// Deletes published messages and consumer records from before these moments; returns how many
    /// rows.
    async fn forget_messages(
        &self,
        published_before: Timestamp,
        done_before: Timestamp,
        limit: u32,
    ) -> Result<u64>;

    /// How many messages are pending and dead, and the age of the oldest pending one.
    async fn backlog(&self) -> Result<Backlog>;
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    pub pending: u64,
    pub dead: u64,
    pub oldest_pending_at: Option<Timestamp>,
}
