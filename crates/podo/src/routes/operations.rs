//! Health, audit, jobs, search and verification.

pub(crate) mod admin;
pub(crate) mod admin_search;
pub(crate) mod audit;
pub(crate) mod health;
pub(crate) mod jobs;
pub(crate) mod ready;
pub(crate) mod simulation;
pub(crate) mod verification;
