//! The nodes' clocks: each machine has its own, which is wrong, drifts and jumps. The product
//! corrects it to the store's, over a slow and unreliable link.

use crate::check::coverage::Coverage;
use crate::rng::Rng;
use crate::swarm::Swarm;
use crate::time::{Owner, Time};
use crate::world::World;
use async_trait::async_trait;
use podo_app::operations::clock::{SYNC_EVERY, SyncedClock};
use podo_app::operations::port::clock::{Clock, ReferenceClock};
use podo_app::{Error, Result};
use podo_domain::Timestamp;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Weak};

/// The maximum initial error, either way.
const SKEW_MAX_MS: u64 = 600_000;

/// The maximum lag of a clock after its machine was suspended.
pub(crate) const JUMP_MAX_MS: u64 = 400_000;

/// The clock of one machine. It outlives the processes that run there.
pub(crate) struct MachineClock {
    time: Time,
    skew_ms: AtomicI64,
    /// Milliseconds gained in a thousand seconds.
    drift_ppm: i64,
}

impl MachineClock {
    pub(crate) fn drawn(time: &Time, rng: &Rng, swarm: &Swarm) -> MachineClock {
        let one_of_both = |most: u64| {
            let size = rng.below(most + 1) as i64;
            if rng.happens(50) { size } else { -size }
        };
        let (skew_ms, drift_ppm) = match swarm.clocks_are_wrong {
            true => (one_of_both(SKEW_MAX_MS), one_of_both(200)),
            false => (0, 0),
        };
        MachineClock { time: time.clone(), skew_ms: AtomicI64::new(skew_ms), drift_ppm }
    }
}

impl Clock for MachineClock {
    fn now(&self) -> Timestamp {
        let true_ms = self.time.now().ms();
        let drift_ms = self.time.age().as_millis() as i64 * self.drift_ppm / 1_000_000;
        Timestamp::from_ms(true_ms + drift_ms + self.skew_ms.load(Ordering::Relaxed))
    }
}

/// One node's access to the store's clock.
pub(crate) struct StoreClock {
    pub(crate) world: Weak<World>,
    pub(crate) node: usize,
}

impl StoreClock {
    async fn travel(&self, world: &World) {
        if world.is_rough() && world.rng.happens(world.swarm.store_slow) {
            world.time.sleep(world.rng.ms(1, 800)).await;
        }
    }
}

#[async_trait]
impl ReferenceClock for StoreClock {
    async fn shared_time(&self) -> Result<Option<Timestamp>> {
        let world = self.world.upgrade().ok_or_else(|| Error::unavailable("the world is over"))?;
        self.travel(&world).await;
        if world.is_rough() && world.rng.happens_rarely(world.swarm.store_fails_per_mille) {
            world.note(|| format!("node {}: the store's clock cannot be read", self.node));
            return Err(Error::unavailable("the store is away"));
        }
        let shared = world.time.now();
        self.travel(&world).await;
        Ok(Some(shared))
    }
}

/// Keeps a node's clock synchronised, as the process does.
pub(crate) async fn keep_synced(world: Arc<World>, clock: Arc<SyncedClock>, node: usize) {
    let reference = StoreClock { world: Arc::downgrade(&world), node };
    while world.time.now() < world.end() {
        let pause = if world.is_on_sale() { SYNC_EVERY } else { SYNC_EVERY * 10 };
        world.time.sleep(pause).await;
        let _ = clock.sync(&reference).await;
    }
}

/// At intervals a machine is suspended, and its clock lags until the next synchronisation.
pub(crate) async fn suspend_machines(world: Arc<World>) {
    while world.swarm.clocks_are_wrong && world.is_on_sale() {
        world.time.sleep(world.rng.ms(5_000, 120_000)).await;
        let machine = world.rng.below(world.clocks.len() as u64) as usize;
        let back_ms = world.rng.below(JUMP_MAX_MS) as i64;
        world.saw(Coverage::ClockJumped);
        world.note(|| format!("the clock of machine {machine} is {back_ms} ms behind"));
        world.clocks[machine].skew_ms.fetch_sub(back_ms, Ordering::Relaxed);
    }
}

impl World {
    /// A corrected clock for one run of a node. A process that can't read the store's clock doesn't
    /// start, and is restarted.
    pub(crate) async fn synced_clock(self: &Arc<World>, node: usize) -> Arc<SyncedClock> {
        let clock = Arc::new(SyncedClock::new(self.clocks[node].clone()));
        let reference = StoreClock { world: Arc::downgrade(self), node };
        while self.mutation != crate::Mutation::NodesTrustTheirClocks
            && clock.sync(&reference).await.is_err()
        {
            self.time.sleep(self.rng.ms(100, 2_000)).await;
        }
        if self.mutation != crate::Mutation::NodesTrustTheirClocks {
            let keep = keep_synced(self.clone(), clock.clone(), node);
            self.time.spawn(Owner::Node(node), keep);
        }
        clock
    }
}
