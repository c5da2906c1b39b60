//! Sales by date and grade, as the booking worker derives them from messages.

use crate::error::Result;
use async_trait::async_trait;
use podo_domain::{EventId, MessageId, ReservationId, ScheduleId, Timestamp, Won};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A reservation's share of one grade.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GradeShare {
    pub grade: String,
    pub seats: u32,
    pub amount: Won,
}

/// What a reservation has according to a message; empty if it was canceled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Booked {
    pub message: MessageId,
    pub reservation: ReservationId,
    pub schedule: ScheduleId,
    /// Later messages of the reservation have larger numbers: in any order of arrival, the last one
    /// counts.
    pub seq: i64,
    pub shares: Vec<GradeShare>,
}

/// The sales of one grade of a date, derived from messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GradeStatistics {
    pub grade: String,
    pub seats: u32,
    pub sold: u32,
    /// Kept from sale by allocations.
    pub kept: u32,
    pub available: u32,
    pub revenue: Won,
    pub updated_at: Option<Timestamp>,
}

/// The dates of an event that aren't canceled, and what was sold of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventSold {
    /// The first and the last show; absent without dates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub starts_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_starts_at: Option<Timestamp>,
    pub dates: u32,
    pub seats: u32,
    pub sold: u32,
}

#[async_trait]
pub trait Sales: Send + Sync {
    /// Counts new messages and marks them in one transaction; returns how many were new.
    async fn count_booked(
        &self,
        consumer: &'static str,
        booked: Vec<Booked>,
        now: Timestamp,
    ) -> Result<u64>;

    /// One for each event, in their order.
    async fn events_sold(&self, events: Vec<EventId>) -> Result<Vec<EventSold>>;

    async fn statistics(&self, schedule: ScheduleId) -> Result<Vec<GradeStatistics>>;
}
