//! The course of a sale: its figures over time, for organisers. No decision depends on it.

use crate::error::Result;
use async_trait::async_trait;
use podo_domain::{ScheduleId, Timestamp, Won};
use serde::Serialize;
use utoipa::ToSchema;

/// The steps in which a course can be read, in seconds. A sale is sampled in the shortest.
pub const STEPS_S: [i64; 4] = [10, 60, 600, 3_600];

/// The figures of a sale at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SaleSample {
    pub at: Timestamp,
    /// Fans in the lobby and in line.
    pub waiting: u64,
    /// Fans who may choose seats.
    pub inside: u64,
    pub available: u32,
    pub held: u32,
    pub sold: u32,
    pub revenue: Won,
}

/// What a sale led to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SaleOutcome {
    /// Paid orders, whether or not they were canceled later.
    pub orders: u64,
    /// Orders that still have a ticket.
    pub orders_kept: u64,
    /// Tickets that were issued.
    pub seats_sold: u64,
    /// Tickets that were canceled.
    pub seats_canceled: u64,
    pub first_sold_at: Option<Timestamp>,
    pub last_sold_at: Option<Timestamp>,
}

#[async_trait]
pub trait SaleSamples: Send + Sync {
    /// Idempotent: a moment of a sale is written once.
    async fn add_samples(&self, samples: Vec<(ScheduleId, SaleSample)>) -> Result<()>;

    /// Dates whose count of sold seats has changed since then, once for each grade.
    async fn dates_sold_since(&self, since: Timestamp) -> Result<Vec<ScheduleId>>;

    /// The samples from `from` to `to` that lie on a step of so many seconds, oldest first.
    async fn samples(
        &self,
        schedule: ScheduleId,
        from: Timestamp,
        to: Timestamp,
        step_s: i64,
    ) -> Result<Vec<SaleSample>>;

    /// The first and the last sample of a sale.
    async fn sampled_period(&self, schedule: ScheduleId) -> Result<Option<(Timestamp, Timestamp)>>;

    /// Fans whom this room admitted, as often as it did.
    async fn n_admitted(&self, room: ScheduleId) -> Result<u64>;

    async fn sale_outcome(&self, schedule: ScheduleId) -> Result<SaleOutcome>;
}
