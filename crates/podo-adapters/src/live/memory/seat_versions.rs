//! Seat versions in memory: a counter per schedule, and the recent changes.

use crate::live::memory::schedules::Schedules;
use async_trait::async_trait;
use podo_app::Result;
use podo_app::booking::port::seat_versions;
use podo_app::booking::port::seat_versions::Since;
use podo_domain::ScheduleId;
use podo_domain::id::SeatIndex;
use std::collections::VecDeque;

/// Seat changes kept per schedule; a client that missed more reads all seats.
const REMEMBERED_MAX: usize = 65_536;

#[derive(Default)]
pub struct SeatVersions {
    schedules: Schedules<Changes>,
}

#[derive(Default)]
struct Changes {
    version: u64,
    /// Oldest first, each with its version.
    log: VecDeque<(u64, SeatIndex)>,
    /// The latest version whose changes are no longer all in the log.
    forgotten: u64,
}

impl Changes {
    fn bump(&mut self, seats: &[SeatIndex]) {
        self.version += 1;
        self.log.extend(seats.iter().map(|seat| (self.version, *seat)));
        let n_too_many = self.log.len().saturating_sub(REMEMBERED_MAX);
        if let Some((version, _)) = self.log.drain(..n_too_many).next_back() {
            self.forgotten = version;
        }
    }

    fn since(&self, version: u64) -> Since {
        let is_known = self.forgotten <= version && version <= self.version;
        let seats = is_known.then(|| {
            let first = self.log.partition_point(|(changed, _)| *changed <= version);
            self.log.range(first..).map(|(_, seat)| *seat).collect()
        });
        Since { version: self.version, seats }
    }
}

#[async_trait]
impl seat_versions::SeatVersions for SeatVersions {
    async fn bump(&self, schedule: ScheduleId, seats: &[SeatIndex]) -> Result<()> {
        self.schedules.with(schedule, Changes::default, |changes| changes.bump(seats))
    }

    async fn version(&self, schedule: ScheduleId) -> Result<u64> {
        Ok(self.schedules.with_known(schedule, |changes| changes.version)?.unwrap_or(0))
    }

    async fn since(&self, schedule: ScheduleId, version: u64) -> Result<Since> {
        let known = self.schedules.with_known(schedule, |changes| changes.since(version))?;
        Ok(known.unwrap_or_else(|| Changes::default().since(version)))
    }
}

#[tokio::test]
async fn keeps_the_contract() {
    seat_versions::contract::check(&SeatVersions::default(), 1).await;
}
