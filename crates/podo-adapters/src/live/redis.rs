//! Engines on Redis, standalone or cluster: shared by every node, and exact because each step is
//! one atomic script.

mod connection;
mod invalidation;
mod limits;
mod link;
mod node_load;
mod queue;
mod renewal;
mod revocations;
mod seat_filter;
mod seat_versions;

pub use connection::{Address, Connection};
pub use invalidation::Invalidation;
pub use limits::{Limits, SharedBuckets};
pub use node_load::NodeLoad;
pub use queue::Queue;
pub use revocations::Revocations;
pub use seat_filter::SeatFilter;
pub use seat_versions::SeatVersions;
