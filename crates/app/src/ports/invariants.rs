//! The promises, as questions to the store: each must find nothing.

use crate::error::Result;
use async_trait::async_trait;
use domain::{ScheduleId, Timestamp, UserId};
use serde::Serialize;
use utoipa::ToSchema;

/// What one invariant found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
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
    /// The dates that must not be sold on, because seats or money of theirs are wrong.
    pub stops: Vec<ScheduleId>,
}

/// The result of one check of everything.
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
    /// The promise that does not hold.
    pub why: String,
}

#[async_trait]
pub trait Invariants: Send + Sync {
    async fn check_all(&self, now: Timestamp) -> Result<Vec<Finding>>;

    /// Keeps the report for the admin pages; old ones are forgotten.
    async fn keep_report(&self, report: Report) -> Result<()>;

    async fn last_report(&self) -> Result<Option<Report>>;

    /// Stops the sale of a date: no seat is held any more, payments under way go on. False when it
    /// was stopped before.
    async fn stop_sale(&self, schedule: ScheduleId, why: String, now: Timestamp) -> Result<bool>;

    /// Lets it go on. Refusals: `NotFound`.
    async fn resume_sale(&self, schedule: ScheduleId, actor: UserId, now: Timestamp) -> Result<()>;

    async fn stopped_sales(&self) -> Result<Vec<Stopped>>;
}
