//! What Podo does: use cases, the ports they need, and the jobs.

pub mod accounts;
pub mod error;
pub mod keys;
pub mod paging;
pub mod platform;
pub mod ports;
pub mod schedules;
pub mod seals;
pub mod sessions;
pub mod tokens;

pub use error::{Error, Result};
pub use platform::Platform;
