//! Ports of booking: the store and the live engines.

pub mod reconciliation;
pub mod reservations;
pub mod seat_filter;
pub mod seat_versions;
pub mod standby;
