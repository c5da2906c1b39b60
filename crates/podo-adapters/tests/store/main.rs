//! The contract of the store, which every engine must meet.
#![cfg(test)]

pub(crate) mod booking;
mod catalog;
pub(crate) mod embedded;
mod engine;
pub(crate) mod identity;
pub(crate) mod messaging;
pub(crate) mod operations;
pub(crate) mod payments;
pub(crate) mod tickets;
pub(crate) mod waiting_room;
mod world;
