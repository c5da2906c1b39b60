//! The load of every node, because the node that admits fans must know how the others cope.

#[path = "node_load_contract.rs"]
pub mod contract;

use crate::error::Result;
use async_trait::async_trait;
use podo_domain::{NodeId, Timestamp};
use std::time::Duration;

/// A node that hasn't reported for this long counts as gone.
pub const REPORT_TTL: Duration = Duration::from_secs(5);

/// The combined reports of the last `REPORT_TTL`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClusterLoad {
    /// The smallest percentage of the rate that any node can take.
    pub percent: u32,
    /// The number of nodes.
    pub n_nodes: u32,
}

/// Every engine keeps these rules; `contract` checks them:
/// - all nodes get the smallest percentage that any node reported within `REPORT_TTL`;
/// - every node that reported within `REPORT_TTL` counts once;
/// - a node's newest report replaces its older ones.
#[async_trait]
pub trait NodeLoad: Send + Sync {
    /// Reports what percentage of the rate this node can take, and returns the combined reports.
    async fn share(&self, node: NodeId, percent: u32, now: Timestamp) -> Result<ClusterLoad>;
}
