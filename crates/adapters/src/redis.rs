//! Engines on Redis, alone or as a cluster: shared by every node, exact because each step is one
//! atomic script.

mod cluster;
mod connection;
mod holds;
mod limits;
mod queue;
mod revocations;

pub use connection::Connection;
pub use holds::Holds;
pub use limits::Limits;
pub use queue::Queue;
pub use revocations::Revocations;
