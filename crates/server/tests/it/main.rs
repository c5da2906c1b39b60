//! The platform as its clients meet it: real HTTP, real database, real process.
#![cfg(test)]

mod client;
mod fan;
mod world;

mod purchase;
