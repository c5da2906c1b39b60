//! What Podo does: use cases, the ports they need, and the jobs.

pub mod error;
pub mod paging;
pub mod ports;

pub use error::{Error, Result};
