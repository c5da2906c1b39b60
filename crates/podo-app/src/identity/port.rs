//! Ports of identity: the store and external services.

pub mod accounts;
pub mod api_keys;
pub mod bot_signals;
pub mod certifier;
pub mod encrypted_fields;
pub mod legal;
pub mod passwords;
pub mod recovery;
pub mod revocations;
pub mod social;
pub mod team;
