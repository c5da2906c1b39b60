//! Tickets in the store.

use crate::error::Result;
use crate::operations::port::idempotency::{IdempotencyKey, Idempotent, IdempotentAnswer};
use crate::store::PageRequest;
use async_trait::async_trait;
use podo_domain::booking::order::options::TypeMark;
use podo_domain::messaging::messages::Language;
use podo_domain::tickets::TicketStatus;
use podo_domain::{ClaimId, ReservationId, ScheduleId, TicketId, Timestamp, UserId};
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
    /// The venue's, in which the date is shown.
    pub time_zone: String,
    pub seat_number: String,
    pub grade: String,
    /// With the proof that the gate asks for; absent for a ticket at the full price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ticket_type: Option<TypeMark>,
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

/// A ticket offered to an address. It replaces the previous offer.
#[derive(Clone, Debug)]
pub struct OfferTicket {
    pub key: IdempotencyKey,
    pub ticket: TicketId,
    pub from: UserId,
    /// The keyed hash of the address.
    pub email_hash: [u8; 32],
    /// The link for an address without a proved account.
    pub claim: NewClaim,
    pub expires_at: Timestamp,
    pub now: Timestamp,
}

/// The link of an offer: its address is encrypted, and its token is known by its hash.
#[derive(Clone, Debug)]
pub struct NewClaim {
    pub id: ClaimId,
    pub email: Vec<u8>,
    pub token_hash: [u8; 32],
    pub language: Language,
}

/// A link whose offer is still open.
#[derive(Clone, Debug)]
pub struct ClaimRecord {
    pub ticket: TicketId,
    pub email: Vec<u8>,
    pub token_hash: [u8; 32],
    pub language: Language,
    pub expires_at: Timestamp,
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

impl IdempotentAnswer for Offered {
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
    /// The venue's, in which the date is shown.
    pub time_zone: String,
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

impl IdempotentAnswer for Transferred {
    const STATUS: u16 = 200;
}

#[async_trait]
pub trait Tickets: Send + Sync {
    async fn tickets_of(&self, user: UserId, page: PageRequest) -> Result<Vec<TicketView>>;

    /// `None` both for another fan's ticket and for one that doesn't exist.
    async fn ticket(&self, ticket: TicketId, user: UserId) -> Result<Option<TicketView>>;

    /// The fan's tickets of one booking, in the order of their seats.
    async fn tickets_in(&self, reservation: ReservationId, user: UserId)
    -> Result<Vec<TicketView>>;

    /// The keyed hash of the address that a ticket is offered to.
    async fn offered_to(&self, ticket: TicketId) -> Result<Option<[u8; 32]>>;

    /// Refusals: `NotFound`, `TicketUsed`, `TicketVoid`, `TransferOff`, `KeyReused`.
    async fn offer_ticket(&self, command: OfferTicket) -> Result<Idempotent<Offered>>;

    /// False if the fan has no such ticket, or it isn't offered.
    async fn withdraw_offer(&self, ticket: TicketId, from: UserId, now: Timestamp) -> Result<bool>;

    /// The newest 100 tickets offered to this address.
    async fn offers_to(&self, email_hash: [u8; 32], now: Timestamp) -> Result<Vec<OfferView>>;

    /// One ticket that is offered to this address.
    async fn offer_to(
        &self,
        ticket: TicketId,
        email_hash: [u8; 32],
        now: Timestamp,
    ) -> Result<Option<OfferView>>;

    /// The link of an offer, while the offer is open.
    async fn ticket_claim(&self, claim: ClaimId) -> Result<Option<ClaimRecord>>;

    /// Deletes links whose offer has expired; returns how many.
    async fn forget_claims(&self, before: Timestamp, limit: u32) -> Result<u64>;

    /// Transfers the ticket and gives it a new code. Refusals: `NotFound` if it isn't offered to
    /// this address, `SeatLimit` if the recipient has as many seats as allowed, `TicketUsed`, `TicketVoid`, `TransferOff`, `KeyReused`.
    async fn accept_ticket(&self, command: AcceptTicket) -> Result<Idempotent<Transferred>>;
}
