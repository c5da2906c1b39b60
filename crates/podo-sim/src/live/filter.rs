//! One node's access to the seat filter.

use crate::live::travel;
use crate::world::World;
use async_trait::async_trait;
use podo_app::Result;
use podo_app::booking::port::seat_filter::{Correction, SeatFilter, Taken};
use podo_domain::booking::reconciliation::FilterHold;
use podo_domain::booking::seats::SeatPick;
use podo_domain::id::SeatIndex;
use podo_domain::{ScheduleId, Timestamp, UserId};
use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

pub(crate) struct Filter {
    pub(crate) world: Weak<World>,
    pub(crate) node: usize,
}

impl Filter {
    async fn reach(&self, step: &'static str) -> Result<Arc<World>> {
        let world = self.world.upgrade().expect("the world outlives every call");
        travel(&world, self.node, step).await?;
        Ok(world)
    }
}

#[async_trait]
impl SeatFilter for Filter {
    async fn take(
        &self,
        pick: &SeatPick,
        fan: UserId,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<Taken> {
        let world = self.reach("holds.take").await?;
        world.live.holds().take(pick, fan, until, now).await
    }

    async fn keep(
        &self,
        schedule: ScheduleId,
        seats: &[SeatIndex],
        fan: UserId,
        until: Timestamp,
    ) -> Result<()> {
        let world = self.reach("holds.keep").await?;
        world.live.holds().keep(schedule, seats, fan, until).await
    }

    async fn release(&self, schedule: ScheduleId, seats: &[SeatIndex], fan: UserId) -> Result<()> {
        let world = self.reach("holds.release").await?;
        world.live.holds().release(schedule, seats, fan).await
    }

    async fn known(
        &self,
        schedule: ScheduleId,
        now: Timestamp,
    ) -> Result<BTreeMap<SeatIndex, FilterHold>> {
        let world = self.reach("holds.known").await?;
        world.live.holds().known(schedule, now).await
    }

    async fn correct(
        &self,
        schedule: ScheduleId,
        corrections: &[Correction],
        now: Timestamp,
    ) -> Result<u64> {
        let world = self.reach("holds.correct").await?;
        world.live.holds().correct(schedule, corrections, now).await
    }
}
