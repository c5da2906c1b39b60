//! The engines' source of number blocks: the store, which may be slow or unavailable.

use crate::rng::Rng;
use crate::swarm::Swarm;
use crate::time::Time;
use async_trait::async_trait;
use podo_adapters::sql::SqlStore;
use podo_app::operations::port::clock::Clock;
use podo_app::waiting_room::port::blocks::QueueBlocks;
use podo_app::{Error, Result};
use podo_domain::waiting_room::{Blocks, Grant, Need};
use podo_domain::{ScheduleId, Timestamp};

pub(crate) struct Lender {
    store: SqlStore,
    time: Time,
    /// A separate stream, as the engines have.
    rng: Rng,
    swarm: Swarm,
    /// Failures may happen until then.
    closing: Timestamp,
}

impl Lender {
    pub(crate) fn new(
        seed: u64,
        store: SqlStore,
        swarm: Swarm,
        time: Time,
        closing: Timestamp,
    ) -> Lender {
        Lender { store, time, rng: Rng::new(seed.rotate_left(32)), swarm, closing }
    }

    async fn strike(&self) -> Result<()> {
        if self.closing <= self.time.now() {
            return Ok(());
        }
        if self.rng.happens(self.swarm.store_slow) {
            self.time.sleep(self.rng.ms(1, 800)).await;
        }
        match self.rng.happens_rarely(self.swarm.store_fails_per_mille) {
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
