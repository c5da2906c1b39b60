//! The contract of the store on PostgreSQL: the same suite as for SQLite.
#![cfg(test)]

mod batches;
mod called_off_races;
mod engine;
mod login_months;
mod logins;
mod plans;
mod replicas;
mod roles;
mod tls;
mod trouble;

#[path = "../store/identity.rs"]
mod identity;

#[path = "../store/booking.rs"]
mod booking;

#[path = "../store/catalog.rs"]
mod catalog;

#[path = "../store/messaging.rs"]
mod messaging;

#[path = "../store/operations.rs"]
mod operations;

#[path = "../store/payments.rs"]
mod payments;

#[path = "../store/tickets.rs"]
mod tickets;

#[path = "../store/waiting_room.rs"]
mod waiting_room;

#[path = "../store/world.rs"]
mod world;
