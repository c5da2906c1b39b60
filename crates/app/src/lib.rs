//! What Podo does: use cases, the ports they need, and the jobs.

pub mod accounts;
pub mod catalog;
pub mod error;
pub mod jobs;
pub mod keys;
pub mod layouts;
pub mod leases;
pub mod letters;
pub mod messages;
pub mod notifications;
pub mod organisers;
pub mod paging;
pub mod payments;
pub mod platform;
pub mod ports;
pub mod queue;
pub mod reconciliation;
pub mod refunds;
pub mod reports;
pub mod reservations;
pub mod schedules;
pub mod seals;
pub mod seat_map;
pub mod sessions;
pub mod standby;
pub mod tickets;
pub mod tokens;
mod turn;
pub mod vitals;
pub mod wallet;
pub mod webhooks;
pub mod workers;

pub use error::{Error, Result};
pub use platform::Platform;
