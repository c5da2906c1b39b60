//! What Podo does: use cases, the ports they need, and the jobs.

pub mod accounts;
pub mod audit;
pub mod catalog;
pub mod challenge;
pub mod error;
pub mod jobs;
pub mod keys;
pub mod layouts;
pub mod leases;
pub mod lookups;
pub mod notifications;
pub mod paging;
pub mod payments;
pub mod platform;
pub mod ports;
pub mod queue;
pub mod reconciliation;
pub mod refunds;
pub mod reports;
pub mod reservations;
pub mod rotation;
pub mod schedules;
pub mod seals;
pub mod seat_map;
pub mod sessions;
pub mod signals;
pub mod standby;
pub mod tickets;
pub mod tokens;
pub mod totp;
mod turn;
pub mod vitals;
pub mod wallet;
pub mod webhooks;

pub use error::{Error, Result};
pub use platform::Platform;
