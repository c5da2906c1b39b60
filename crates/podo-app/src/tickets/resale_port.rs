//! Resales in the store.

use crate::booking::port::reservations::Freed;
use crate::error::Result;
use crate::operations::port::idempotency::{IdempotencyKey, Idempotent};
use crate::payments::port::payments::Sold;
use async_trait::async_trait;
use podo_domain::tickets::resales::ResaleState;
use podo_domain::{
    Currency, PaymentId, RefundId, ResaleId, ReservationId, ScheduleId, TicketId, Timestamp,
    UserId, Won,
};
use serde::Serialize;
use utoipa::ToSchema;

/// A ticket that its buyer gives back at the price paid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResaleView {
    pub id: ResaleId,
    pub ticket_id: TicketId,
    pub schedule_id: ScheduleId,
    pub event_title: String,
    pub venue_name: String,
    pub starts_at: Timestamp,
    /// The venue's, in which the date is shown.
    pub time_zone: String,
    pub seat_number: String,
    pub grade: String,
    /// What the buyer paid for the seat: the refund, and the price for the fan who takes it.
    pub price: Won,
    pub currency: Currency,
    pub state: ResaleState,
    /// Until when it can be taken, while it is offered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offered_until: Option<Timestamp>,
    pub created_at: Timestamp,
}

#[derive(Clone, Copy, Debug)]
pub struct ListTicket {
    pub resale: ResaleId,
    pub ticket: TicketId,
    pub user: UserId,
    /// The currency of the wallets.
    pub home: Currency,
    pub now: Timestamp,
}

/// One step of an open listing by the job.
#[derive(Clone, Copy, Debug)]
pub struct AdvanceResale {
    pub resale: ResaleId,
    /// The end of a new offer.
    pub until: Timestamp,
    pub now: Timestamp,
}

/// The fan pays from the wallet and gets the seat; the buyer is refunded. One transaction.
#[derive(Clone, Debug)]
pub struct TakeResale {
    pub key: IdempotencyKey,
    pub resale: ResaleId,
    pub user: UserId,
    /// The amount that the fan saw.
    pub amount: Won,
    pub reservation: ReservationId,
    pub payment: PaymentId,
    pub refund: RefundId,
    pub now: Timestamp,
}

/// What the live engines must learn after a resale.
#[derive(Clone, Debug)]
pub struct Resold {
    pub freed: Freed,
    pub sold: Box<Sold>,
}

#[async_trait]
pub trait Resales: Send + Sync {
    /// Lists a ticket, or returns its open listing. Refusals: `NotFound`, `TicketUsed`,
    /// `TicketVoid`, `TicketTransferred` if the fan didn't buy it, `WalletCurrency`, and those of a closed sale.
    async fn list_ticket(&self, command: ListTicket) -> Result<ResaleView>;

    /// False if the fan has no open listing of this ticket.
    async fn withdraw_resale(&self, ticket: TicketId, user: UserId, now: Timestamp)
    -> Result<bool>;

    /// The fan's newest listings.
    async fn resales_of(&self, user: UserId, limit: u32) -> Result<Vec<ResaleView>>;

    /// The listings that the fan may take now.
    async fn resales_for(&self, user: UserId, now: Timestamp) -> Result<Vec<ResaleView>>;

    /// Open listings, oldest first, without those in back-off after a failed attempt.
    async fn open_resales(&self, now: Timestamp, limit: u32) -> Result<Vec<ResaleId>>;

    /// Offers a listing to the next fan on the standby list, or ends it. Returns whether something
    /// changed.
    async fn advance_resale(&self, command: AdvanceResale) -> Result<bool>;

    /// Refusals: `NotFound`, `ResaleOver`, `AmountMismatch`, `SeatLimit`, `TicketUsed`,
    /// `TicketTransferred`, those of the wallet and of a closed sale.
    async fn take_resale(&self, command: TakeResale) -> Result<Idempotent<Resold>>;
}
