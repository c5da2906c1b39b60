//! The HTTP client of the simulated fans.

pub(crate) mod answers;
pub(crate) mod caller;
pub(crate) mod client;
pub(crate) mod connection;
