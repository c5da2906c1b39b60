//! End-to-end tests on PostgreSQL and Redis: the same suite as on SQLite and memory.
#![cfg(test)]

mod booking_completed;
mod engine;
pub(crate) mod faults;
pub(crate) mod nodes;
mod pools;
mod rate_limits;
mod system;

#[path = "../it/booking.rs"]
mod booking;

#[path = "../it/catalog.rs"]
mod catalog;

#[path = "../it/identity.rs"]
mod identity;

#[path = "../it/messaging.rs"]
mod messaging;

#[path = "../it/operations.rs"]
mod operations;

#[path = "../it/payments.rs"]
mod payments;

#[path = "../it/support.rs"]
mod support;

#[path = "../it/tickets.rs"]
mod tickets;

#[path = "../it/waiting_room.rs"]
mod waiting_room;
