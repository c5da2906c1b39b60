//! Number blocks in memory, for tests and benchmarks of rooms that don't outlive the process.

use async_trait::async_trait;
use podo_app::Result;
use podo_app::error::Error;
use podo_app::waiting_room::port::blocks;
use podo_domain::waiting_room::{Blocks, Grant, Need};
use podo_domain::{ScheduleId, Timestamp};
use std::collections::HashMap;
use std::sync::Mutex;

#[derive(Default)]
pub struct QueueBlocks {
    schedules: Mutex<HashMap<ScheduleId, Blocks>>,
}

#[async_trait]
impl blocks::QueueBlocks for QueueBlocks {
    async fn blocks(&self, schedule: ScheduleId, now: Timestamp) -> Result<Blocks> {
        let mut schedules = self.schedules.lock().map_err(Error::broken)?;
        Ok(*schedules.entry(schedule).or_insert_with(|| Blocks::starting(now)))
    }

    async fn grant(&self, schedule: ScheduleId, need: Need, now: Timestamp) -> Result<Grant> {
        let mut schedules = self.schedules.lock().map_err(Error::broken)?;
        Ok(schedules.entry(schedule).or_insert_with(|| Blocks::starting(now)).grant(need))
    }
}
