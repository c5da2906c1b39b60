//! The log of what happened in the waiting rooms, for support. It is written in batches, kept for a
//! while, and nothing is decided by it.

use crate::error::Result;
use async_trait::async_trait;
use domain::queue::QueueEvent;
use domain::{ScheduleId, Timestamp, UserId};
use uuid::Uuid;

#[async_trait]
pub trait QueueLog: Send + Sync {
    async fn append_queue_events(&self, events: Vec<QueueEvent>, now: Timestamp) -> Result<()>;

    /// A fan's events before this id, newest first.
    async fn queue_events(&self, asked: QueueEventsOf) -> Result<Vec<(Uuid, QueueEvent)>>;

    /// Deletes events that are older, at most `limit`; returns how many.
    async fn forget_queue_events(&self, before: Timestamp, limit: u32) -> Result<u64>;
}

#[derive(Clone, Copy, Debug)]
pub struct QueueEventsOf {
    pub user: UserId,
    pub schedule: Option<ScheduleId>,
    pub before: Option<Uuid>,
    pub limit: u32,
}
