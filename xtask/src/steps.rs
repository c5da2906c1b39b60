//! Steps of `cargo xtask test` that need more than one command.

pub(crate) mod browser;
pub(crate) mod clients;
pub(crate) mod configuration;
pub(crate) mod deny;
pub(crate) mod dist;
pub(crate) mod examples;
pub(crate) mod fuzz;
pub(crate) mod openapi;
pub(crate) mod operations;
