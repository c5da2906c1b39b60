//! What happens to a node's commands on their way to the store and back: delay, loss, and the end
//! of the node at that very point.

use crate::world::World;
use adapters::sql::Weather;
use app::{Error, Result};
use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use std::sync::{Arc, Weak};

/// Nothing ever happens: for those who set the stage, and those who check.
pub(crate) struct Calm;

impl Weather for Calm {
    fn before(&self, _command: &'static str) -> BoxFuture<'_, Result<()>> {
        ready(Ok(())).boxed()
    }

    fn after(&self, _command: &'static str) -> BoxFuture<'_, Result<()>> {
        ready(Ok(())).boxed()
    }
}

/// The weather of one life of a node.
pub(crate) struct Rough {
    pub(crate) world: Weak<World>,
    pub(crate) node: usize,
}

impl Rough {
    async fn strike(&self, what: &'static str) -> Result<()> {
        let Some(world) = self.world.upgrade() else { return Ok(()) };
        let swarm = &world.swarm;
        world.stumble(self.node, what).await;
        if world.is_rough() && world.chance.happens(swarm.store_slow) {
            let pause = world.chance.ms(1, 800);
            world.time.sleep(pause).await;
        }
        if world.is_rough() && world.chance.happens_rarely(swarm.store_fails_per_mille) {
            world.note(|| format!("node {}: the store fails at {what}", self.node));
            return Err(Error::unavailable("the store is away"));
        }
        Ok(())
    }
}

impl Weather for Rough {
    fn before(&self, command: &'static str) -> BoxFuture<'_, Result<()>> {
        self.strike(command).boxed()
    }

    fn after(&self, command: &'static str) -> BoxFuture<'_, Result<()>> {
        self.strike(command).boxed()
    }
}

impl World {
    /// A node may crash at any await point; then it never gets further than this.
    pub(crate) async fn stumble(self: &Arc<World>, node: usize, at: &'static str) {
        if self.is_rough() && self.chance.happens_rarely(self.swarm.crash_per_mille) {
            self.crash(node, at);
            futures::future::pending::<()>().await;
        }
    }
}
