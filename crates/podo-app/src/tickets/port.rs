//! Tickets in the store.

use crate::error::Result;
use crate::operations::port::idempotency::{Answer, IdempotencyKey, Idempotent};
use crate::store::PageAsk;
use async_trait::async_trait;
use podo_domain::tickets::TicketStatus;
use podo_domain::{ReservationId, ScheduleId, TicketId, Timestamp, UserId};
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
    /// Whether it can be transferred. The organiser decides for all tickets of the event.
    pub transferable: bool,
    /// Until when it's offered to another person; the owner can use it meanwhile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offered_until: Option<Timestamp>,
    /// The random code behind the QR code; the owner sees it only as a picture.
    #[serde(skip)]
    #[schema(ignore)]
    pub code: Vec<u8>,
}

/// A ticket as the gate sees it.
#[derive(Clone, Debug)]
pub struct GateTicket {
    pub schedule: ScheduleId,
    pub code: Vec<u8>,
}

#[derive(Clone, Debug)]
pub struct CheckIn {
    /// The staff member at the gate.
    pub actor: UserId,
    pub ticket: TicketId,
    pub code: Vec<u8>,
    pub now: Timestamp,
}

/// The ticket was checked in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckedIn {
    pub ticket_id: TicketId,
    pub schedule_id: ScheduleId,
    pub seat_number: String,
    pub grade: String,
    pub used_at: Timestamp,
}

/// A ticket offered to an address. It replaces the previous offer.
#[derive(Clone, Debug)]
pub struct OfferTicket {
    pub key: IdempotencyKey,
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

/// A ticket offered to an address that the fan has proved.
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

/// The owner of the address accepts the ticket, which gets a new code.
#[derive(Clone, Debug)]
pub struct AcceptTicket {
    pub key: IdempotencyKey,
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

    /// `None` both for another fan's ticket and for one that doesn't exist.
    async fn ticket(&self, ticket: TicketId, user: UserId) -> Result<Option<TicketView>>;

    async fn ticket_at_gate(&self, ticket: TicketId) -> Result<Option<GateTicket>>;

    /// Marks a ticket as used, once, however often it's presented. Refusals: `TicketInvalid`,
    /// `TicketUsed`, `TicketVoid`.
    async fn check_in(&self, command: CheckIn) -> Result<CheckedIn>;

    /// Refusals: `NotFound`, `TicketUsed`, `TicketVoid`, `TransferOff`, `KeyReused`.
    async fn offer_ticket(&self, command: OfferTicket) -> Result<Idempotent<Offered>>;

    /// False if the fan has no such ticket, or it isn't offered.
    async fn withdraw_offer(&self, ticket: TicketId, from: UserId, now: Timestamp) -> Result<bool>;

    /// The newest 100 tickets offered to this address.
    async fn offers_to(&self, email_hash: [u8; 32], now: Timestamp) -> Result<Vec<OfferView>>;

    /// Transfers the ticket and gives it a new code. Refusals: `NotFound` if it isn't offered to
    /// this address, `TicketUsed`, `TicketVoid`, `TransferOff`, `KeyReused`.
    async fn accept_ticket(&self, command: AcceptTicket) -> Result<Idempotent<Transferred>>;
}
