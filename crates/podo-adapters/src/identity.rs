//! Password hashing, social log-in, and identity verification.

pub(crate) mod certifier;
pub(crate) mod id_token;
pub mod passwords;
pub mod social;
