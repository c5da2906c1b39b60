//! A bus that is a list: what was published stays, groups remember how far they came, and what was
//! not committed comes again.

use crate::sight::Sight;
use crate::world::World;
use app::ports::bus::{Bus, Parcel, Subscription};
use app::{Error, Result};
use async_trait::async_trait;
use domain::messages::Topic;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

#[derive(Default)]
struct Pages {
    parcels: Vec<Parcel>,
    /// How far each group came.
    committed: BTreeMap<String, usize>,
}

#[derive(Default)]
pub(crate) struct Log(Mutex<Pages>);

impl Log {
    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One node's way to the bus.
pub(crate) struct Wire {
    pub(crate) world: Weak<World>,
    pub(crate) node: usize,
}

impl Wire {
    fn world(&self) -> Arc<World> {
        self.world.upgrade().expect("nobody publishes after the end of the world")
    }
}

#[async_trait]
impl Bus for Wire {
    async fn publish(&self, parcel: &Parcel) -> Result<()> {
        let world = self.world();
        let fails = || world.is_rough() && world.chance.happens(world.swarm.network_loses);
        if fails() {
            return Err(Error::unavailable("the bus is away"));
        }
        world.bus.pages().parcels.push(parcel.clone());
        world.stumble(self.node, "a publication").await;
        if fails() {
            world.saw(Sight::PublishedTwice);
            return Err(Error::unavailable("the bus did not say that it took it"));
        }
        Ok(())
    }

    async fn subscribe(&self, group: &str, topics: &[Topic]) -> Result<Box<dyn Subscription>> {
        let (world, node) = (self.world.clone(), self.node);
        let (group, topics) = (group.to_owned(), topics.to_vec());
        Ok(Box::new(Reader { world, node, group, topics, n_read: 0 }))
    }

    async fn listen(&self, topics: &[Topic]) -> Result<Box<dyn Subscription>> {
        self.subscribe("listener", topics).await
    }
}

struct Reader {
    world: Weak<World>,
    node: usize,
    group: String,
    topics: Vec<Topic>,
    n_read: usize,
}

#[async_trait]
impl Subscription for Reader {
    async fn receive(&mut self, limit: usize, _patience: Duration) -> Result<Vec<Parcel>> {
        let Some(world) = self.world.upgrade() else { return Ok(Vec::new()) };
        let pages = world.bus.pages();
        let from = pages.committed.get(&self.group).copied().unwrap_or(0);
        let new = pages.parcels[from..].iter().take(limit);
        let new: Vec<Parcel> = new.cloned().collect();
        self.n_read = from + new.len();
        Ok(new.into_iter().filter(|parcel| self.topics.contains(&parcel.topic)).collect())
    }

    async fn commit(&mut self) -> Result<()> {
        let Some(world) = self.world.upgrade() else { return Ok(()) };
        // Between the effect and this line a worker may die: then all of it comes again.
        world.stumble(self.node, "a commit on the bus").await;
        if world.is_rough() && world.chance.happens(world.swarm.network_loses) {
            world.saw(Sight::MessageTwice);
            return Err(Error::unavailable("the bus is away"));
        }
        world.bus.pages().committed.insert(self.group.clone(), self.n_read);
        Ok(())
    }

    async fn rewind(&mut self) -> Result<()> {
        Ok(())
    }
}
