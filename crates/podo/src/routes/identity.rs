//! Accounts, profile, second factor, social login, identity verification, bot signals.

pub(crate) mod accounts;
pub(crate) mod bot_signals;
pub(crate) mod certification;
pub(crate) mod email_proof;
pub(crate) mod profile;
pub(crate) mod second_factor;
pub(crate) mod social;
