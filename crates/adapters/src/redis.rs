//! Engines on Redis, alone or as a cluster: shared by every node, exact because each step is one
//! atomic script.

mod connection;
mod holds;
mod limits;
mod link;
mod queue;
mod renewal;
mod revocations;
mod seat_versions;
mod strains;

pub use connection::{Address, Connection};
pub use holds::Holds;
pub use limits::{Limits, SharedBuckets};
pub use queue::Queue;
pub use revocations::Revocations;
pub use seat_versions::SeatVersions;
pub use strains::Strains;
