//! Versions of seats on Redis: one key per schedule.

use super::Connection;
use app::Result;
use app::ports::seat_versions;
use async_trait::async_trait;
use domain::ScheduleId;
use redis::{Cmd, Script};

pub struct SeatVersions {
    connection: Connection,
    bump: Script,
}

impl SeatVersions {
    pub fn new(connection: Connection) -> SeatVersions {
        SeatVersions { connection, bump: Script::new(include_str!("bump.lua")) }
    }

    fn key(&self, schedule: ScheduleId) -> String {
        self.connection.key(format_args!("{{{}}}:seats", schedule.uuid()))
    }
}

#[async_trait]
impl seat_versions::SeatVersions for SeatVersions {
    async fn bump(&self, schedule: ScheduleId) -> Result<()> {
        self.connection.run(&self.bump.key(self.key(schedule))).await
    }

    async fn version(&self, schedule: ScheduleId) -> Result<u64> {
        let version: Option<u64> = self.connection.query(&Cmd::get(self.key(schedule))).await?;
        Ok(version.unwrap_or(0))
    }
}
