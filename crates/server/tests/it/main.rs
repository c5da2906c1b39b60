//! The platform as its clients meet it: real HTTP, real database, real process.
#![cfg(test)]

mod canary;
mod client;
mod engine;
mod fan;
mod world;

mod abuse;
mod accounts;
mod audit;
mod bad_input;
mod best;
mod catalog;
mod detach;
mod edge;
mod entry;
mod forgery;
mod gateways;
mod guessing;
mod hold;
mod identity;
mod keys;
mod kill;
mod lookups;
mod plain;
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
mod robots;
mod rush;
mod seat_map;
mod second_factor;
mod secrets;
mod silence;
mod simulation;
mod social;
mod standby;
mod stream;
mod tickets;
