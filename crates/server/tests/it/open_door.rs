//! A filter that lets everybody through: then the database is alone.

use app::ports::holds::{Correction, Holds, Taken};
use async_trait::async_trait;
use domain::id::SeatIndex;
use domain::reconciliation::FilterHold;
use domain::seats::SeatPick;
use domain::{ScheduleId, Timestamp, UserId};
use std::collections::BTreeMap;

pub(crate) struct OpenDoor;

#[async_trait]
impl Holds for OpenDoor {
    async fn take(
        &self,
        _: &SeatPick,
        _: UserId,
        _: Timestamp,
        _: Timestamp,
    ) -> app::Result<Taken> {
        Ok(Taken::Yes)
    }

    async fn keep(
        &self,
        _: ScheduleId,
        _: &[SeatIndex],
        _: UserId,
        _: Timestamp,
    ) -> app::Result<()> {
        Ok(())
    }

    async fn release(&self, _: ScheduleId, _: &[SeatIndex], _: UserId) -> app::Result<()> {
        Ok(())
    }

    async fn known(
        &self,
        _: ScheduleId,
        _: Timestamp,
    ) -> app::Result<BTreeMap<SeatIndex, FilterHold>> {
        Ok(BTreeMap::new())
    }

    async fn correct(&self, _: ScheduleId, _: &[Correction], _: Timestamp) -> app::Result<u64> {
        Ok(0)
    }
}
