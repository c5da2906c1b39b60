//! The live engines of the product, in memory, made to fail and to forget. Every step of the
//! waiting room is checked as it happens.

mod filter;
mod room;

pub(crate) use filter::Filter;
pub(crate) use room::Room;

use crate::sight::Sight;
use crate::world::World;
use adapters::memory;
use app::ports::clock::Clock;
use app::{Error, Result};
use domain::Timestamp;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[derive(Default)]
struct State {
    queue: Arc<memory::Queue>,
    holds: Arc<memory::Holds>,
    forgot_at: Option<Timestamp>,
}

#[derive(Default)]
pub(crate) struct Engines(Mutex<State>);

impl Engines {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn queue(&self) -> Arc<memory::Queue> {
        self.state().queue.clone()
    }

    fn holds(&self) -> Arc<memory::Holds> {
        self.state().holds.clone()
    }

    /// When everything was lost last.
    pub(crate) fn lost_at(&self) -> Option<Timestamp> {
        self.state().forgot_at
    }

    pub(crate) fn forget(&self, world: &World) {
        world.saw(Sight::EnginesForgot);
        world.note(|| "the live engines lose everything".to_owned());
        let mut state = self.state();
        state.forgot_at = Some(world.time.now());
        state.queue = Arc::default();
        state.holds = Arc::default();
    }
}

/// What happens to a node's step on its way to the engines.
async fn travel(world: &Arc<World>, node: usize, step: &'static str) -> Result<()> {
    world.stumble(node, step).await;
    if !world.is_rough() {
        return Ok(());
    }
    if world.chance.happens_rarely(world.swarm.live_forgets_per_mille) {
        world.live.forget(world);
    }
    if world.chance.happens_rarely(world.swarm.live_fails_per_mille) {
        world.note(|| format!("node {node}: the live engine fails at {step}"));
        return Err(Error::unavailable("the live engine is away"));
    }
    Ok(())
}
