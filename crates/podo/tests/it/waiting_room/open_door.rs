//! A filter that passes everything: then only the database decides.

use async_trait::async_trait;
use podo_app::booking::port::seat_filter::{Correction, SeatFilter, Taken};
use podo_domain::booking::reconciliation::FilterHold;
use podo_domain::booking::seats::SeatPick;
use podo_domain::id::SeatIndex;
use podo_domain::{ScheduleId, Timestamp, UserId};
use std::collections::BTreeMap;

pub(crate) struct OpenDoor;

#[async_trait]
impl SeatFilter for OpenDoor {
    async fn take(
        &self,
        _: &SeatPick,
        _: UserId,
        _: Timestamp,
        _: Timestamp,
    ) -> podo_app::Result<Taken> {
        Ok(Taken::Yes)
    }

    async fn keep(
        &self,
        _: ScheduleId,
        _: &[SeatIndex],
        _: UserId,
        _: Timestamp,
    ) -> podo_app::Result<()> {
        Ok(())
    }

    async fn release(&self, _: ScheduleId, _: &[SeatIndex], _: UserId) -> podo_app::Result<()> {
        Ok(())
    }

    async fn known(
        &self,
        _: ScheduleId,
        _: Timestamp,
    ) -> podo_app::Result<BTreeMap<SeatIndex, FilterHold>> {
        Ok(BTreeMap::new())
    }

    async fn correct(
        &self,
        _: ScheduleId,
        _: &[Correction],
        _: Timestamp,
    ) -> podo_app::Result<u64> {
        Ok(0)
    }
}
