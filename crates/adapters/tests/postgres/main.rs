//! The contract of the store, kept by PostgreSQL: the same suite as for SQLite.
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

#[path = "../store/accounts.rs"]
mod accounts;

#[path = "../store/called_off.rs"]
mod called_off;

#[path = "../store/catalog.rs"]
mod catalog;

#[path = "../store/four_eyes.rs"]
mod four_eyes;

#[path = "../store/hold.rs"]
mod hold;

#[path = "../store/keys.rs"]
mod keys;

#[path = "../store/leases.rs"]
mod leases;

#[path = "../store/login_history.rs"]
mod login_history;

#[path = "../store/messages.rs"]
mod messages;

#[path = "../store/pay.rs"]
mod pay;

#[path = "../store/queue_blocks.rs"]
mod queue_blocks;

#[path = "../store/queue_history.rs"]
mod queue_history;

#[path = "../store/queue_log.rs"]
mod queue_log;

#[path = "../store/races.rs"]
mod races;

#[path = "../store/reconciliation.rs"]
mod reconciliation;

#[path = "../store/records.rs"]
mod records;

#[path = "../store/refund.rs"]
mod refund;

#[path = "../store/refund_part.rs"]
mod refund_part;

#[path = "../store/reports.rs"]
mod reports;

#[path = "../store/settle.rs"]
mod settle;

#[path = "../store/wallet.rs"]
mod wallet;

#[path = "../store/webhooks.rs"]
mod webhooks;

#[path = "../store/workers.rs"]
mod workers;

#[path = "../store/world.rs"]
mod world;
