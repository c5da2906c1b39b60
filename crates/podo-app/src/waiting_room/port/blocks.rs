//! Blocks of place numbers and lobby indexes, each reserved in the store for one engine.

use crate::error::Result;
use async_trait::async_trait;
use podo_domain::waiting_room::{Blocks, Grant, Need};
use podo_domain::{ScheduleId, Timestamp};

/// Each block is granted once, no matter what the engines lose.
#[async_trait]
pub trait QueueBlocks: Send + Sync {
    /// The reserved blocks of a schedule; the first call creates the row.
    async fn blocks(&self, schedule: ScheduleId, now: Timestamp) -> Result<Blocks>;

    /// Reserves the block that an engine needs to continue.
    async fn grant(&self, schedule: ScheduleId, need: Need, now: Timestamp) -> Result<Grant>;
}
