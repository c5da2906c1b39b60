//! Audit, invariants, idempotency keys, leases, job runs, search and reports.

pub(crate) mod admin_search;
pub(crate) mod audit;
pub(crate) mod clock;
pub(crate) mod idempotency;
pub(crate) mod invariants;
pub(crate) mod job_failures;
pub(crate) mod job_runs;
pub(crate) mod leases;
pub(crate) mod records;
pub(crate) mod reports;
pub(crate) mod sales;
pub(crate) mod verification;
