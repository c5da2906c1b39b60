//! The store in SQL. The text of every statement is written once and runs on every engine.

mod accounts;
mod approvals;
mod audit;
mod catalog;
mod clock;
mod database_role;
mod dead_letters;
mod invariants;
mod job_failures;
mod job_runs;
mod keys;
mod leases;
mod lookups;
mod messages;
mod notifications;
mod organisers;
mod outbox;
mod payments;
mod plan;
mod postgres;
mod queue_blocks;
mod queue_history;
mod queue_log;
mod reconciliation;
mod records;
mod refunds;
mod reports;
mod reservations;
mod resolutions;
mod sales;
mod sealed;
mod signals;
mod sqlite;
mod standby;
mod store;
mod tickets;
mod traced;
mod tx;
mod value;
mod verification;
mod wallets;
mod webhooks;

pub use database_role::DatabaseRole;
pub use plan::{Plan, Step};
pub use postgres::{
    Connections, DEADLINE_EXTRA, Login, Logins, PerRole, PoolUsage, PostgresSettings, Replication,
    Roles, WaitCounts,
};
#[cfg(feature = "mutants")]
pub use sqlite::{Edit, Weather};
pub use store::SqlStore;
pub use tx::Guard;
