//! Ports of identity: the store and external services.

pub mod accounts;
pub mod bot_signals;
pub mod certifier;
pub mod encrypted_fields;
pub mod passwords;
pub mod revocations;
pub mod social;
