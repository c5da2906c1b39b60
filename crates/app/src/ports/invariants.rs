//! The promises, as questions to the store: each must find nothing.

use crate::error::Result;
use async_trait::async_trait;
use domain::Timestamp;
use serde::Serialize;

/// What one invariant found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// `I1`, `I2`, …
    pub id: &'static str,
    /// What must hold, as a sentence.
    pub rule: &'static str,
    /// How many rows were looked at, so that "0 broken" can be told from "0 checked".
    pub n_checked: u64,
    pub n_broken: u64,
    /// The first few that break it.
    pub examples: Vec<String>,
}

#[async_trait]
pub trait Invariants: Send + Sync {
    async fn check_all(&self, now: Timestamp) -> Result<Vec<Finding>>;
}
