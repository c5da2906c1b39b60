//! Holding seats, the seat map, the standby list, and the filter in front of the seats.

pub mod allocations;
pub mod jobs;
pub mod order;
pub mod port;
pub mod reconciliation;
pub mod reservations;
pub mod seat_map;
pub mod standby;
