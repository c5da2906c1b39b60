//! Running the platform: audit, leases, idempotency, rate limits, verification, retention.

pub mod admin_search;
pub mod audit;
pub mod clock;
pub mod failpoints;
pub mod idempotency;
pub mod jobs;
pub mod leases;
pub mod port;
pub mod retention;
pub mod throttling;
pub mod traces;
pub mod verification;
