//! The SQL store. Each statement is written once and runs on both engines.

pub(crate) mod booking;
mod catalog;
pub(crate) mod engine;
pub(crate) mod identity;
pub(crate) mod messaging;
pub(crate) mod operations;
mod payments;
pub(crate) mod tickets;
pub(crate) mod waiting_room;

pub use engine::database_role::DatabaseRole;
#[cfg(feature = "mutants")]
pub use engine::mutants::{Edit, Guard};
pub use engine::plan::{MigrationPlan, Step};
pub use engine::postgres::{
    Connections, DEADLINE_EXTRA, Login, Logins, PerRole, PoolUsage, PostgresSettings, Replication,
    Roles, WaitCounts,
};
#[cfg(feature = "mutants")]
pub use engine::sqlite::FaultInjector;
pub use engine::store::SqlStore;
