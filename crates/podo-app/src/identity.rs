//! Accounts, sessions, second factors, and the encryption of personal fields.

pub mod accounts;
pub mod bot_signals;
pub(crate) mod encrypted_fields;
pub mod key_rotation;
pub mod keyring;
pub mod legal;
pub mod port;
pub mod sessions;
pub mod support;
pub mod team;
pub mod totp;
