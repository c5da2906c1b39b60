//! The platform as its clients meet it: real HTTP, real database, real process.
#![cfg(test)]

mod client;
mod engine;
mod fan;
mod world;

mod abuse;
mod accounts;
mod bad_input;
mod best;
mod catalog;
mod detach;
mod edge;
mod entry;
mod gateways;
mod hold;
mod keys;
mod kill;
mod letters;
mod message_docs;
mod messages;
mod policy;
mod polls;
mod problems;
mod process;
mod profile;
mod purchase;
mod queue;
mod race;
mod reconcile;
mod refunds;
mod rush;
mod seat_map;
mod standby;
mod stream;
mod tickets;
