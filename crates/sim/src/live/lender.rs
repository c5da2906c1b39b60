//! Where the engines get their blocks of numbers from: the store, which may be slow or away.

use crate::chance::Chance;
use crate::swarm::Swarm;
use crate::time::Time;
use adapters::sql::SqlStore;
use app::ports::clock::Clock;
use app::ports::queue_blocks::QueueBlocks;
use app::{Error, Result};
use async_trait::async_trait;
use domain::queue::{Blocks, Grant, Need};
use domain::{ScheduleId, Timestamp};

pub(crate) struct Lender {
    store: SqlStore,
    time: Time,
    /// A stream of its own, as the engines have.
    chance: Chance,
    swarm: Swarm,
    /// Until then it may fail.
    closing: Timestamp,
}

impl Lender {
    pub(crate) fn new(
        seed: u64,
        (store, swarm): (SqlStore, Swarm),
        time: Time,
        closing: Timestamp,
    ) -> Lender {
        Lender { store, time, chance: Chance::new(seed.rotate_left(32)), swarm, closing }
    }

    async fn strike(&self) -> Result<()> {
        if self.closing <= self.time.now() {
            return Ok(());
        }
        if self.chance.happens(self.swarm.store_slow) {
            self.time.sleep(self.chance.ms(1, 800)).await;
        }
        match self.chance.happens_rarely(self.swarm.store_fails_per_mille) {
            true => Err(Error::unavailable("the store is away")),
            false => Ok(()),
        }
    }
}

#[async_trait]
impl QueueBlocks for Lender {
    async fn blocks(&self, schedule: ScheduleId, now: Timestamp) -> Result<Blocks> {
        self.strike().await?;
        self.store.blocks(schedule, now).await
    }

    async fn grant(&self, schedule: ScheduleId, need: Need, now: Timestamp) -> Result<Grant> {
        self.strike().await?;
        let grant = self.store.grant(schedule, need, now).await?;
        self.strike().await?;
        Ok(grant)
    }
}
