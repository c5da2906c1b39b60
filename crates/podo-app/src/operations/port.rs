//! Ports of operations: the store, the clock and the live engines.

pub mod admin_search;
pub mod audit;
pub mod clock;
pub mod idempotency;
pub mod invariants;
pub mod job_failures;
pub mod job_runs;
pub mod leases;
pub mod node_load;
pub mod records;
