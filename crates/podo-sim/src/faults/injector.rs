//! Faults of a node's commands to the store: delay, loss, and a crash of the node at that point.

use crate::world::World;
use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use podo_adapters::sql::FaultInjector;
use podo_app::{Error, Result};
use std::sync::{Arc, Weak};

/// No faults, for the set-up and the checkers.
pub(crate) struct NoFaults;

impl FaultInjector for NoFaults {
    fn before(&self, _command: &'static str) -> BoxFuture<'_, Result<()>> {
        ready(Ok(())).boxed()
    }

    fn after(&self, _command: &'static str) -> BoxFuture<'_, Result<()>> {
        ready(Ok(())).boxed()
    }
}

/// The faults of one run of a node.
pub(crate) struct RandomFaults {
    pub(crate) world: Weak<World>,
    pub(crate) node: usize,
}

impl RandomFaults {
    async fn strike(&self, what: &'static str) -> Result<()> {
        let Some(world) = self.world.upgrade() else { return Ok(()) };
        let swarm = &world.swarm;
        world.stumble(self.node, what).await;
        if world.is_rough() && world.rng.happens(swarm.store_slow) {
            let pause = world.rng.ms(1, 800);
            world.time.sleep(pause).await;
        }
        if world.is_rough() && world.rng.happens_rarely(swarm.store_fails_per_mille) {
            world.note(|| format!("node {}: the store fails at {what}", self.node));
            return Err(Error::unavailable("the store is away"));
        }
        Ok(())
    }
}

impl FaultInjector for RandomFaults {
    fn before(&self, command: &'static str) -> BoxFuture<'_, Result<()>> {
        self.strike(command).boxed()
    }

    fn after(&self, command: &'static str) -> BoxFuture<'_, Result<()>> {
        self.strike(command).boxed()
    }
}

impl World {
    /// A node may crash at any await point; this future then never completes.
    pub(crate) async fn stumble(self: &Arc<World>, node: usize, at: &'static str) {
        if self.is_rough() && self.rng.happens_rarely(self.swarm.crash_per_mille) {
            self.crash(node, at);
            futures::future::pending::<()>().await;
        }
    }
}
