//! Accounts, bot signals and encrypted fields.

pub(crate) mod accounts;
pub(crate) mod api_keys;
pub(crate) mod bot_signals;
pub(crate) mod encrypted_fields;
mod invitations;
pub(crate) mod legal;
pub(crate) mod recovery;
mod support;
pub(crate) mod team;
