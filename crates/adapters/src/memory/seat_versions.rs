//! Versions of seats in memory: one count per schedule.

use super::schedules::Schedules;
use app::Result;
use app::ports::seat_versions;
use async_trait::async_trait;
use domain::ScheduleId;

#[derive(Default)]
pub struct SeatVersions {
    counts: Schedules<u64>,
}

#[async_trait]
impl seat_versions::SeatVersions for SeatVersions {
    async fn bump(&self, schedule: ScheduleId) -> Result<()> {
        self.counts.with(schedule, || 0, |count| *count += 1)
    }

    async fn version(&self, schedule: ScheduleId) -> Result<u64> {
        Ok(self.counts.with_known(schedule, |count| *count)?.unwrap_or(0))
    }
}

#[tokio::test]
async fn keeps_the_contract() {
    seat_versions::contract::check(&SeatVersions::default(), 1).await;
}
