//! Several nodes that share engines.

pub(crate) mod canaries;
pub(crate) mod invalidation;
pub(crate) mod migrate;
pub(crate) mod moving;
pub(crate) mod pg_notify;
pub(crate) mod readiness;
pub(crate) mod reconcile_command;
pub(crate) mod roles;
pub(crate) mod sale;
pub(crate) mod same_as_embedded;
pub(crate) mod upgrade;
pub(crate) mod verify_live;
