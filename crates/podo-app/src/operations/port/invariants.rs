//! The invariants, as queries that must return nothing.

use crate::error::Result;
use async_trait::async_trait;
use podo_domain::{ScheduleId, Timestamp, UserId};
use serde::Serialize;
use utoipa::ToSchema;

/// The result of checking one invariant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// `I1`, `I2`, …
    pub id: &'static str,
    /// What must hold, as a sentence.
    pub rule: &'static str,
    /// How many rows were checked, to distinguish "0 broken" from "0 checked".
    pub n_checked: u64,
    pub n_broken: u64,
    /// The first few violations.
    pub examples: Vec<String>,
    /// Dates whose sale must stop, because their seats or money are wrong.
    pub stops: Vec<ScheduleId>,
}

/// The result of checking all invariants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    pub started_at: Timestamp,
    pub finished_at: Timestamp,
    pub n_broken: u64,
    /// The findings as JSON.
    pub findings: String,
}

/// A date whose sale is stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Stopped {
    pub schedule_id: ScheduleId,
    pub stopped_at: Timestamp,
    /// The broken invariant.
    pub why: String,
}

#[async_trait]
pub trait Invariants: Send + Sync {
    async fn check_all(&self, now: Timestamp) -> Result<Vec<Finding>>;

    /// Stores the report for the admin pages and deletes old ones.
    async fn keep_report(&self, report: Report) -> Result<()>;

    async fn last_report(&self) -> Result<Option<Report>>;

    /// Stops the sale of a date: no more holds, while payments in progress continue. False if it
    /// was already stopped.
    async fn stop_sale(&self, schedule: ScheduleId, why: String, now: Timestamp) -> Result<bool>;

    /// Resumes the sale. Refusals: `NotFound`.
    async fn resume_sale(&self, schedule: ScheduleId, actor: UserId, now: Timestamp) -> Result<()>;

    async fn stopped_sales(&self) -> Result<Vec<Stopped>>;
}
