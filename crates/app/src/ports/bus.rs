//! The bus: carries messages from the outbox to their consumers.

pub mod contract;

use crate::error::Result;
use async_trait::async_trait;
use domain::messages::Topic;
use std::time::Duration;

/// A message on its way: what it says is for those at both ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parcel {
    pub topic: Topic,
    /// Parcels with one key keep their order.
    pub key: String,
    pub headers: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
}

/// Every engine keeps these rules; `contract` checks them:
/// - parcels with one key arrive in the order they were published;
/// - a parcel that `publish` accepted arrives at every group at least once;
/// - what was committed does not come again, what was not does;
/// - no two members of a group work on one key at the same time.
#[async_trait]
pub trait Bus: Send + Sync {
    async fn publish(&self, parcel: &Parcel) -> Result<()>;

    /// Becomes a member of a group until the subscription is dropped. The members share the
    /// group's parcels; each group gets all of them, a new one also what the bus still has.
    async fn subscribe(&self, group: &str, topics: &[Topic]) -> Result<Box<dyn Subscription>>;

    /// Hears everything from now on, alone, and remembers nothing of it when it is dropped.
    async fn listen(&self, topics: &[Topic]) -> Result<Box<dyn Subscription>>;

    /// How many parcels wait for the members of groups in this process. It may be some seconds old.
    fn lag(&self) -> u64 {
        0
    }

    /// Makes what is missing and warns of what will not work well; tried until it works.
    async fn prepare(&self) -> Result<()> {
        Ok(())
    }
}

#[async_trait]
pub trait Subscription: Send {
    /// The next parcels, at most `limit`; none when there were none for so long.
    async fn receive(&mut self, limit: usize, patience: Duration) -> Result<Vec<Parcel>>;

    /// All that was received is done.
    async fn commit(&mut self) -> Result<()>;

    /// What was received since the last commit is not done: it comes again.
    async fn rewind(&mut self) -> Result<()>;
}
