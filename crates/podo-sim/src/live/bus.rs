//! A bus as a list: published messages stay, groups keep their offset, and uncommitted messages are
//! redelivered.

use crate::check::coverage::Coverage;
use crate::world::World;
use async_trait::async_trait;
use podo_app::messaging::port::bus::{Bus, Envelope, Subscription};
use podo_app::{Error, Result};
use podo_domain::messaging::messages::Topic;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

#[derive(Default)]
struct Pages {
    envelopes: Vec<Envelope>,
    /// The committed offset of each group.
    committed: BTreeMap<String, usize>,
}

#[derive(Default)]
pub(crate) struct Log(Mutex<Pages>);

impl Log {
    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One node's access to the bus.
pub(crate) struct BusLink {
    pub(crate) world: Weak<World>,
    pub(crate) node: usize,
}

impl BusLink {
    fn world(&self) -> Arc<World> {
        self.world.upgrade().expect("the world outlives every call")
    }
}

#[async_trait]
impl Bus for BusLink {
    async fn publish(&self, envelope: &Envelope) -> Result<()> {
        let world = self.world();
        let fails = || world.is_rough() && world.rng.happens(world.swarm.network_loses);
        if fails() {
            return Err(Error::unavailable("the bus is away"));
        }
        world.bus.pages().envelopes.push(envelope.clone());
        world.stumble(self.node, "a publication").await;
        if fails() {
            world.saw(Coverage::PublishedTwice);
            return Err(Error::unavailable("the bus sent no acknowledgement"));
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
    async fn receive(&mut self, limit: usize, _patience: Duration) -> Result<Vec<Envelope>> {
        let Some(world) = self.world.upgrade() else { return Ok(Vec::new()) };
        let pages = world.bus.pages();
        let from = pages.committed.get(&self.group).copied().unwrap_or(0);
        let new = pages.envelopes[from..].iter().take(limit);
        let new: Vec<Envelope> = new.cloned().collect();
        self.n_read = from + new.len();
        Ok(new.into_iter().filter(|envelope| self.topics.contains(&envelope.topic)).collect())
    }

    async fn commit(&mut self) -> Result<()> {
        let Some(world) = self.world.upgrade() else { return Ok(()) };
        // A worker may die between the effect and this line: everything is then redelivered.
        world.stumble(self.node, "a commit on the bus").await;
        if world.is_rough() && world.rng.happens(world.swarm.network_loses) {
            world.saw(Coverage::MessageTwice);
            return Err(Error::unavailable("the bus is away"));
        }
        world.bus.pages().committed.insert(self.group.clone(), self.n_read);
        Ok(())
    }

    async fn rewind(&mut self) -> Result<()> {
        Ok(())
    }
}
