//! Tickets in the store.

use crate::error::Result;
use crate::paging::PageAsk;
use async_trait::async_trait;
use domain::tickets::TicketStatus;
use domain::{ReservationId, ScheduleId, TicketId, Timestamp, UserId};
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TicketView {
    pub id: TicketId,
    pub reservation_id: ReservationId,
    pub schedule_id: ScheduleId,
    pub event_title: String,
    pub venue_name: String,
    pub starts_at: Timestamp,
    pub seat_number: String,
    pub grade: String,
    pub booking_number: String,
    pub status: TicketStatus,
    /// What the QR code says; shown to the owner as a picture only.
    #[serde(skip)]
    #[schema(ignore)]
    pub code: Vec<u8>,
}

#[async_trait]
pub trait Tickets: Send + Sync {
    async fn tickets_of(&self, user: UserId, page: PageAsk) -> Result<Vec<TicketView>>;

    /// `None` for somebody else's as for one that does not exist.
    async fn ticket(&self, ticket: TicketId, user: UserId) -> Result<Option<TicketView>>;
}
