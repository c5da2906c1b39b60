//! Seats, holds and reservations: who may take which seat, and until when.

pub mod allocations;
pub mod best;
pub mod draws;
pub mod issued;
pub mod order;
pub mod reconciliation;
pub mod reservations;
pub mod seats;
pub mod standby;
