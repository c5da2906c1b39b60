//! Accounts, bot signals and encrypted fields.

pub(crate) mod accounts;
pub(crate) mod bot_signals;
pub(crate) mod encrypted_fields;
