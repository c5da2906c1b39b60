//! Orders that organisers issue, in the store.

use crate::booking::port::reservations::{Freed, ReservedSeat};
use crate::error::Result;
use crate::operations::port::idempotency::{IdempotencyKey, Idempotent, IdempotentAnswer};
use crate::payments::port::payments::NewTicket;
use crate::store::PageRequest;
use async_trait::async_trait;
use podo_domain::booking::issued::{Channel, Issue, Tender};
use podo_domain::booking::reservations::ReservationStatus;
use podo_domain::booking::seats::SeatPick;
use podo_domain::{
    Currency, EventId, PaymentId, ReservationId, ScheduleId, SeatId, Timestamp, UserId, Won,
};
use serde::Serialize;
use utoipa::ToSchema;

/// Sells or gives away free or kept seats in one step: reservation, payment and tickets.
#[derive(Clone, Debug)]
pub struct IssueOrder {
    pub key: IdempotencyKey,
    /// The organiser, whose account is the buyer.
    pub actor: UserId,
    pub reservation: ReservationId,
    pub payment: PaymentId,
    pub pick: SeatPick,
    /// Ticket types; seats that aren't named cost the full price.
    pub types: Vec<(SeatId, Option<u32>)>,
    pub issue: Issue,
    /// Of the customer, encrypted as the rest.
    pub name: Vec<u8>,
    pub phone: Option<Vec<u8>>,
    pub note: Option<Vec<u8>>,
    /// Keyed hashes under which support finds the order.
    pub lookups: Vec<[u8; 32]>,
    pub now: Timestamp,
}

/// An issued order with its tickets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct IssuedOrder {
    pub reservation_id: ReservationId,
    pub booking_number: String,
    pub channel: Channel,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tender: Option<Tender>,
    pub payment_id: PaymentId,
    pub amount: Won,
    pub currency: Currency,
    pub seats: Vec<ReservedSeat>,
    pub tickets: Vec<NewTicket>,
}

impl IdempotentAnswer for IssuedOrder {
    const STATUS: u16 = 201;
}

/// An issued order as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssuedRow {
    pub reservation: ReservationId,
    pub event: EventId,
    pub booking_number: Option<String>,
    pub status: ReservationStatus,
    pub channel: Channel,
    pub tender: Option<Tender>,
    pub amount: Won,
    pub currency: Currency,
    /// What the desk took, and what it gave back of that.
    pub paid: Won,
    pub refunded: Won,
    pub n_seats: u32,
    pub actor: UserId,
    pub name: Vec<u8>,
    pub phone: Option<Vec<u8>>,
    pub note: Option<Vec<u8>>,
    pub created_at: Timestamp,
}

/// Which money a cash-up counts: what the desk took and gave back in this time.
#[derive(Clone, Copy, Debug)]
pub struct CashUpQuery {
    pub schedule: ScheduleId,
    pub from: Timestamp,
    pub until: Timestamp,
}

/// What the desk took and gave back in one way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TenderTotal {
    pub tender: Tender,
    pub orders: u64,
    pub taken: Won,
    pub refunds: u64,
    pub refunded: Won,
}

#[async_trait]
pub trait IssuedOrders: Send + Sync {
    /// Refusals: `NotFound`, `SeatTaken` (also for seats that are never for sale),
    /// `EventNotOpen`, `ScheduleCanceled`, `SaleStopped`, `SaleClosed` after the show, `ForeignSeat`,
    /// `SeatRepeated`, `TicketTypeUnknown`, `TicketTypeOtherGrade`, `TicketTypeLimit`,
    /// `OrderTooExpensive`, `KeyReused`.
    async fn issue_order(&self, command: IssueOrder) -> Result<Idempotent<(IssuedOrder, Freed)>>;

    /// Newest first.
    async fn issued_orders(
        &self,
        schedule: ScheduleId,
        page: PageRequest,
    ) -> Result<Vec<IssuedRow>>;

    /// Those of these reservations that an organiser issued.
    async fn issued_among(&self, reservations: Vec<ReservationId>) -> Result<Vec<IssuedRow>>;

    /// The newest orders with this hash of a name or a phone number.
    async fn issued_to(&self, hash: [u8; 32], limit: u32) -> Result<Vec<IssuedRow>>;

    /// The sums of each tender, in the order of `Tender::ALL`.
    async fn cash_up(&self, asked: CashUpQuery) -> Result<Vec<TenderTotal>>;
}
