//! Blocks of numbers in memory: for tests and benchmarks of rooms that outlive no process.

use app::Result;
use app::error::Error;
use app::ports::queue_blocks;
use async_trait::async_trait;
use domain::queue::{Blocks, Grant, Need};
use domain::{ScheduleId, Timestamp};
use std::collections::HashMap;
use std::sync::Mutex;

#[derive(Default)]
pub struct QueueBlocks {
    schedules: Mutex<HashMap<ScheduleId, Blocks>>,
}

#[async_trait]
impl queue_blocks::QueueBlocks for QueueBlocks {
    async fn blocks(&self, schedule: ScheduleId, now: Timestamp) -> Result<Blocks> {
        let mut schedules = self.schedules.lock().map_err(Error::broken)?;
        Ok(*schedules.entry(schedule).or_insert_with(|| Blocks::starting(now)))
    }

    async fn grant(&self, schedule: ScheduleId, need: Need, now: Timestamp) -> Result<Grant> {
        let mut schedules = self.schedules.lock().map_err(Error::broken)?;
        Ok(schedules.entry(schedule).or_insert_with(|| Blocks::starting(now)).grant(need))
    }
}
