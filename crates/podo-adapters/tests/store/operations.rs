//! Leases, reports and retention of records.

#[path = "operations/leases.rs"]
pub(crate) mod leases;
#[path = "operations/records.rs"]
pub(crate) mod records;
#[path = "operations/reports.rs"]
pub(crate) mod reports;
