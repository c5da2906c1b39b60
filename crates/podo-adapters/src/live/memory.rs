//! Engines in the memory of one process: exact, fast, and empty after a restart.

mod bus;
mod invalidation;
mod limits;
mod node_load;
pub(crate) mod queue;
mod queue_blocks;
mod revocations;
mod schedules;
mod seat_filter;
mod seat_versions;

pub use bus::Bus;
pub use invalidation::Invalidation;
pub use limits::{Limits, SharedBuckets};
pub use node_load::NodeLoad;
pub use queue::Queue;
pub use queue_blocks::QueueBlocks;
pub use revocations::Revocations;
pub use seat_filter::SeatFilter;
pub use seat_versions::SeatVersions;
