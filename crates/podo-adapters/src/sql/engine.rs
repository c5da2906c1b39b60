//! The SQL engines: SQLite and PostgreSQL behind one transaction trait.

pub(crate) mod commands;
pub(crate) mod database_role;
#[cfg(feature = "mutants")]
pub(crate) mod mutants;
pub(crate) mod plan;
pub(crate) mod postgres;
pub(crate) mod sqlite;
pub(crate) mod store;
pub(crate) mod traced;
pub(crate) mod tx;
pub(crate) mod value;
