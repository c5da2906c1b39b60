//! Tickets in the store.

use super::keys::{Answer, KeyUse, Once};
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
    /// May it be given to somebody else? The organiser decides for all tickets of the event.
    pub transferable: bool,
    /// What the QR code says; shown to the owner as a picture only.
    #[serde(skip)]
    #[schema(ignore)]
    pub code: Vec<u8>,
}

/// A ticket as the gate knows it.
#[derive(Clone, Debug)]
pub struct GateTicket {
    pub schedule: ScheduleId,
    pub code: Vec<u8>,
}

#[derive(Clone, Debug)]
pub struct CheckIn {
    /// Who stands at the gate.
    pub actor: UserId,
    pub ticket: TicketId,
    pub code: Vec<u8>,
    pub now: Timestamp,
}

/// Come in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckedIn {
    pub ticket_id: TicketId,
    pub schedule_id: ScheduleId,
    pub seat_number: String,
    pub grade: String,
    pub used_at: Timestamp,
}

#[derive(Clone, Debug)]
pub struct TransferTicket {
    pub key: KeyUse,
    pub ticket: TicketId,
    pub from: UserId,
    pub to: UserId,
    pub code: Vec<u8>,
    pub now: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Transferred {
    pub ticket_id: TicketId,
    pub seat_number: String,
}

impl Answer for Transferred {
    const STATUS: u16 = 200;
}

#[async_trait]
pub trait Tickets: Send + Sync {
    async fn tickets_of(&self, user: UserId, page: PageAsk) -> Result<Vec<TicketView>>;

    /// `None` for somebody else's as for one that does not exist.
    async fn ticket(&self, ticket: TicketId, user: UserId) -> Result<Option<TicketView>>;

    async fn ticket_at_gate(&self, ticket: TicketId) -> Result<Option<GateTicket>>;

    /// Marks a ticket as used: of many who show it one comes in. Refusals: `TicketInvalid`,
    /// `TicketUsed`, `TicketVoid`.
    async fn check_in(&self, command: CheckIn) -> Result<CheckedIn>;

    /// The ticket is another fan's and its code a new one. Refusals: `NotFound`, `TicketUsed`,
    /// `TicketVoid`, `TransferOff`, `KeyReused`.
    async fn transfer_ticket(&self, command: TransferTicket) -> Result<Once<Transferred>>;
}
