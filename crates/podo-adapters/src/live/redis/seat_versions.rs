//! Seat versions on Redis: one key per schedule, and a stream of recent changes.

use crate::live::redis::Connection;
use async_trait::async_trait;
use podo_app::booking::port::seat_versions;
use podo_app::booking::port::seat_versions::Since;
use podo_app::{Error, Result};
use podo_domain::ScheduleId;
use podo_domain::id::SeatIndex;
use redis::{Cmd, Script};

pub struct SeatVersions {
    connection: Connection,
    bump: Script,
    since: Script,
}

impl SeatVersions {
    pub fn new(connection: Connection) -> SeatVersions {
        SeatVersions {
            connection,
            bump: Script::new(include_str!("seat_versions/bump.lua")),
            since: Script::new(include_str!("seat_versions/since.lua")),
        }
    }

    fn key(&self, schedule: ScheduleId) -> String {
        self.connection.key(format_args!("{{{}}}:seats", schedule.uuid()))
    }

    fn log_key(&self, schedule: ScheduleId) -> String {
        self.connection.key(format_args!("{{{}}}:seats:log", schedule.uuid()))
    }
}

/// Parses comma-separated seat indexes, as the scripts write them.
fn read(text: &str) -> Result<Vec<SeatIndex>> {
    let numbers = text.split(',').filter(|number| !number.is_empty());
    let read = |number: &str| number.parse().map_err(|_error| Error::broken(format!("`{text}`")));
    numbers.map(read).collect()
}

#[async_trait]
impl seat_versions::SeatVersions for SeatVersions {
    async fn bump(&self, schedule: ScheduleId, seats: &[SeatIndex]) -> Result<()> {
        let mut call = self.bump.key(self.key(schedule));
        call.key(self.log_key(schedule)).arg(seats);
        self.connection.run(&call).await
    }

    async fn version(&self, schedule: ScheduleId) -> Result<u64> {
        let version: Option<u64> = self.connection.query(&Cmd::get(self.key(schedule))).await?;
        Ok(version.unwrap_or(0))
    }

    async fn since(&self, schedule: ScheduleId, version: u64) -> Result<Since> {
        let mut call = self.since.key(self.key(schedule));
        call.key(self.log_key(schedule)).arg(version);
        let (version, changes): (u64, Option<Vec<String>>) = self.connection.run(&call).await?;
        let seats = changes
            .map(|changes| changes.iter().map(|text| read(text)).collect::<Result<Vec<_>>>());
        let seats = seats.transpose()?.map(|seats| seats.concat());
        Ok(Since { version, seats })
    }
}
