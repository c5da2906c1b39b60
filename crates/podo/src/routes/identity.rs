//! Accounts, profile, second factor, social login, identity verification, bot signals.

pub(crate) mod accounts;
pub(crate) mod api_keys;
pub(crate) mod bot_signals;
pub(crate) mod certification;
pub(crate) mod email_proof;
pub(crate) mod legal;
pub(crate) mod profile;
pub(crate) mod recovery;
pub(crate) mod second_factor;
pub(crate) mod social;
pub(crate) mod support;
pub(crate) mod team;
