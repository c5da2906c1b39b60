//! Engines on Redis, alone or as a cluster: shared by every node, exact because each step is one
//! atomic script.

mod connection;
mod limits;
mod revocations;

pub use connection::Connection;
pub use limits::Limits;
pub use revocations::Revocations;
