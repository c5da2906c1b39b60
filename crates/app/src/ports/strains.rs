//! How every node bears its load: who lets fans in must know of those who serve them.

pub mod contract;

use crate::error::Result;
use async_trait::async_trait;
use domain::{NodeId, Timestamp};
use std::time::Duration;

/// A node that has not spoken for so long is gone, and counts no more.
pub const HEARD_FOR: Duration = Duration::from_secs(5);

/// What the nodes that spoke within `HEARD_FOR` say together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heard {
    /// The smallest share of the rate that any of them bears, in percent.
    pub percent: u32,
    /// How many they are.
    pub n_nodes: u32,
}

/// Every engine keeps these rules; `contract` checks them:
/// - the smallest share that any node told within `HEARD_FOR` is what all are told;
/// - every node that spoke within `HEARD_FOR` counts once;
/// - a node's newest word replaces its older ones.
#[async_trait]
pub trait Strains: Send + Sync {
    /// This node says what share of the rate it bears, in percent, and hears what all bear.
    async fn share(&self, node: NodeId, percent: u32, now: Timestamp) -> Result<Heard>;
}
