//! End-to-end tests: real HTTP, real database, real process.
#![cfg(test)]

pub(crate) mod booking;
pub(crate) mod catalog;
mod engine;
pub(crate) mod http;
pub(crate) mod identity;
pub(crate) mod messaging;
pub(crate) mod operations;
pub(crate) mod payments;
pub(crate) mod process;
pub(crate) mod support;
mod tickets;
pub(crate) mod waiting_room;

// It edits the SQLite file, which the distributed suite doesn't have.
#[path = "payments/by_hand.rs"]
mod by_hand;
