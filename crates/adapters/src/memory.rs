//! Engines in the memory of one process: exact, fast, and empty after a restart.

mod bus;
mod holds;
mod limits;
pub(crate) mod queue;
mod queue_blocks;
mod revocations;
mod schedules;
mod seat_versions;
mod strains;

pub use bus::Bus;
pub use holds::Holds;
pub use limits::{Limits, SharedBuckets};
pub use queue::Queue;
pub use queue_blocks::QueueBlocks;
pub use revocations::Revocations;
pub use seat_versions::SeatVersions;
pub use strains::Strains;
