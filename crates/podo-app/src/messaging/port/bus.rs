//! The bus carries messages from the outbox to their consumers.

#[path = "bus_contract.rs"]
pub mod contract;

use crate::error::Result;
use async_trait::async_trait;
use podo_domain::messaging::messages::Topic;
use std::time::Duration;

/// A message in transit; only its producer and consumers interpret the body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope {
    pub topic: Topic,
    /// Envelopes with the same key keep their order.
    pub key: String,
    pub headers: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
}

/// Every engine keeps these rules; `contract` checks them:
/// - envelopes with the same key arrive in the order in which they were published;
/// - an envelope that `publish` accepted arrives at every group at least once;
/// - committed envelopes aren't delivered again; uncommitted ones are;
/// - no two members of a group work on the same key at the same time.
#[async_trait]
pub trait Bus: Send + Sync {
    async fn publish(&self, envelope: &Envelope) -> Result<()>;

    /// Joins a group until the subscription is dropped. The members share the group's envelopes;
    /// each group gets all of them, and a new group also gets what the bus still has.
    async fn subscribe(&self, group: &str, topics: &[Topic]) -> Result<Box<dyn Subscription>>;

    /// Receives everything published from now on, outside of any group; its position isn't stored.
    async fn listen(&self, topics: &[Topic]) -> Result<Box<dyn Subscription>>;

    /// How many envelopes wait for group members in this process; may be some seconds old.
    fn lag(&self) -> u64 {
        0
    }

    /// Creates what is missing and warns about unsuitable settings; the caller retries until it
    /// succeeds.
    async fn prepare(&self) -> Result<()> {
        Ok(())
    }
}

#[async_trait]
pub trait Subscription: Send {
    /// The next envelopes, at most `limit`; empty if none arrived within `patience`.
    async fn receive(&mut self, limit: usize, patience: Duration) -> Result<Vec<Envelope>>;

    /// Acknowledges everything received.
    async fn commit(&mut self) -> Result<()>;

    /// Everything received since the last commit is delivered again.
    async fn rewind(&mut self) -> Result<()>;
}
