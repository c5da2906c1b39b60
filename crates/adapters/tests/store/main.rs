//! The contract of the store: what every engine keeps, whatever its SQL.
#![cfg(test)]

mod accounts;
mod called_off;
mod catalog;
mod durability;
mod engine;
mod four_eyes;
mod hold;
mod invariants;
mod keys;
mod leases;
mod login_history;
mod machine;
mod messages;
mod pay;
mod queue_blocks;
mod queue_history;
mod queue_log;
mod races;
mod reconciliation;
mod records;
mod refund;
mod refund_part;
mod reports;
mod settle;
mod updates;
mod wallet;
mod webhooks;
mod workers;
mod world;
