//! One node's way to the filter in front of the seats.

use super::travel;
use crate::world::World;
use app::Result;
use app::ports::holds::{Correction, Holds, Taken};
use async_trait::async_trait;
use domain::id::SeatIndex;
use domain::reconciliation::FilterHold;
use domain::seats::SeatPick;
use domain::{ScheduleId, Timestamp, UserId};
use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

pub(crate) struct Filter {
    pub(crate) world: Weak<World>,
    pub(crate) node: usize,
}

impl Filter {
    async fn reach(&self, step: &'static str) -> Result<Arc<World>> {
        let world = self.world.upgrade().expect("nobody holds after the end of the world");
        travel(&world, self.node, step).await?;
        Ok(world)
    }
}

#[async_trait]
impl Holds for Filter {
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
