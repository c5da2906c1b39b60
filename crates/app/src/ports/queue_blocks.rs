//! Blocks of place numbers and lobby indexes, reserved in the store for one engine each.

use crate::error::Result;
use async_trait::async_trait;
use domain::queue::{Blocks, Grant, Need};
use domain::{ScheduleId, Timestamp};

/// Whatever is granted is granted once, and survives whatever the engines lose.
#[async_trait]
pub trait QueueBlocks: Send + Sync {
    /// What is reserved of a schedule, which is written down with the first question.
    async fn blocks(&self, schedule: ScheduleId, now: Timestamp) -> Result<Blocks>;

    /// Reserves what an engine needs before it can go on.
    async fn grant(&self, schedule: ScheduleId, need: Need, now: Timestamp) -> Result<Grant>;
}
