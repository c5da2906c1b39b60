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
    /// Until when it is offered to somebody else; the owner may use it meanwhile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offered_until: Option<Timestamp>,
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

/// A ticket offered to an address, whoever has it. The offer before it is over.
#[derive(Clone, Debug)]
pub struct OfferTicket {
    pub key: KeyUse,
    pub ticket: TicketId,
    pub from: UserId,
    /// The keyed hash of the address.
    pub email_hash: [u8; 32],
    pub expires_at: Timestamp,
    pub now: Timestamp,
}

/// The same answer for every address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Offered {
    pub ticket_id: TicketId,
    pub seat_number: String,
    /// Until when the offer can be accepted.
    pub expires_at: Timestamp,
}

impl Answer for Offered {
    const STATUS: u16 = 202;
}

/// A ticket that somebody offers to the address that a fan proved to have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OfferView {
    pub ticket_id: TicketId,
    pub schedule_id: ScheduleId,
    pub event_title: String,
    pub venue_name: String,
    pub starts_at: Timestamp,
    pub seat_number: String,
    pub grade: String,
    pub expires_at: Timestamp,
}

/// The owner of the address takes the ticket, which gets a new code.
#[derive(Clone, Debug)]
pub struct AcceptTicket {
    pub key: KeyUse,
    pub ticket: TicketId,
    pub to: UserId,
    pub email_hash: [u8; 32],
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

    /// Refusals: `NotFound`, `TicketUsed`, `TicketVoid`, `TransferOff`, `KeyReused`.
    async fn offer_ticket(&self, command: OfferTicket) -> Result<Once<Offered>>;

    /// False when the fan has no such ticket, or it is not offered.
    async fn withdraw_offer(&self, ticket: TicketId, from: UserId, now: Timestamp) -> Result<bool>;

    /// The newest 100 tickets that are offered to this address.
    async fn offers_to(&self, email_hash: [u8; 32], now: Timestamp) -> Result<Vec<OfferView>>;

    /// The ticket is another fan's and its code a new one. Refusals: `NotFound` when it is not offered
    /// to this address, `TicketUsed`, `TicketVoid`, `TransferOff`, `KeyReused`.
    async fn accept_ticket(&self, command: AcceptTicket) -> Result<Once<Transferred>>;
}
