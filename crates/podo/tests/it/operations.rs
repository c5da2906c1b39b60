//! Audit, search, verification, clocks and bad input.

#[path = "operations/admin_search.rs"]
pub(crate) mod admin_search;
#[path = "operations/audit.rs"]
pub(crate) mod audit;
#[path = "operations/bad_input.rs"]
pub(crate) mod bad_input;
#[path = "operations/clock.rs"]
pub(crate) mod clock;
#[path = "operations/cycles.rs"]
pub(crate) mod cycles;
#[path = "operations/retention.rs"]
pub(crate) mod retention;
#[path = "operations/traces.rs"]
pub(crate) mod traces;
#[path = "operations/verification.rs"]
pub(crate) mod verification;
