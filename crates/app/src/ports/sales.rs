//! What the booking worker makes of messages: sales by date and grade.

use crate::error::Result;
use async_trait::async_trait;
use domain::{MessageId, ReservationId, ScheduleId, Timestamp, Won};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What a reservation has of one grade.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GradeShare {
    pub grade: String,
    pub seats: u32,
    pub amount: Won,
}

/// What a message says that a reservation has; nothing when it was canceled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Booked {
    pub message: MessageId,
    pub reservation: ReservationId,
    pub schedule: ScheduleId,
    /// A later message of the reservation has a larger number: whatever order they come in, the
    /// last one counts.
    pub seq: i64,
    pub shares: Vec<GradeShare>,
}

/// The sales of one grade of a date, as the messages told them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GradeStatistics {
    pub grade: String,
    pub seats: u32,
    pub sold: u32,
    pub available: u32,
    pub revenue: Won,
    pub updated_at: Option<Timestamp>,
}

#[async_trait]
pub trait Sales: Send + Sync {
    /// Counts what is new, all in one transaction with the marks of the messages; says how much
    /// was new.
    async fn count_booked(
        &self,
        consumer: &'static str,
        booked: Vec<Booked>,
        now: Timestamp,
    ) -> Result<u64>;

    async fn statistics(&self, schedule: ScheduleId) -> Result<Vec<GradeStatistics>>;
}
