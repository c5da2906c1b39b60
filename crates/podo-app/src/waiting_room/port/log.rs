//! The log of waiting-room events, for support. It's written in batches and deleted after a while;
//! no decision depends on it.

use crate::error::Result;
use async_trait::async_trait;
use podo_domain::waiting_room::QueueEvent;
use podo_domain::{ScheduleId, Timestamp, UserId};
use uuid::Uuid;

#[async_trait]
pub trait QueueLog: Send + Sync {
    async fn append_queue_events(&self, events: Vec<QueueEvent>, now: Timestamp) -> Result<()>;

    /// A fan's events before this id, newest first.
    async fn queue_events(&self, asked: QueueEventsOf) -> Result<Vec<(Uuid, QueueEvent)>>;

    /// Deletes at most `limit` older events; returns how many.
    async fn forget_queue_events(&self, before: Timestamp, limit: u32) -> Result<u64>;
}

#[derive(Clone, Copy, Debug)]
pub struct QueueEventsOf {
    pub user: UserId,
    pub schedule: Option<ScheduleId>,
    pub before: Option<Uuid>,
    pub limit: u32,
}
