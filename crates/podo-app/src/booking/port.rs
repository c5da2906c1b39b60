//! Ports of booking: the store and the live engines.

pub mod allocations;
pub mod issued;
pub mod reconciliation;
pub mod reseat;
pub mod reservations;
pub mod seat_filter;
pub mod seat_versions;
pub mod standby;
