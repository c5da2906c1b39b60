//! Holding and releasing seats in the store. The database decides who gets a seat.

use crate::error::Result;
use crate::operations::port::idempotency::{IdempotencyKey, Idempotent, IdempotentAnswer};
use crate::store::PageRequest;
use async_trait::async_trait;
use podo_domain::booking::order::options::TypeMark;
use podo_domain::booking::order::{LineSeat, OrderLine, SeatPrice, lines};
use podo_domain::booking::reservations::ReservationStatus;
use podo_domain::booking::seats::SeatPick;
use podo_domain::id::SeatIndex;
use podo_domain::payments::refunds::SeatPaid;
use podo_domain::waiting_room::Entry;
use podo_domain::{Currency, PaymentId, ReservationId, ScheduleId, SeatId, Timestamp, UserId, Won};
use serde::Serialize;
use utoipa::ToSchema;

/// Holds seats for one fan, all or none, in one transaction.
#[derive(Clone, Debug)]
pub struct HoldSeats {
    pub key: IdempotencyKey,
    pub reservation: ReservationId,
    pub user: UserId,
    pub pick: SeatPick,
    /// The live entry that permits it; checked again inside the transaction.
    pub entry: Entry,
    /// The waiting room of the entry. On a date with phases it must be the running phase's.
    pub room: ScheduleId,
    pub until: Timestamp,
    /// Whether fans who repeatedly let holds lapse have to pause.
    pub limits_churn: bool,
    pub now: Timestamp,
}

/// A reserved seat, with the price at the time of the hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReservedSeat {
    pub id: SeatId,
    pub number: String,
    pub grade: String,
    /// What the ticket costs, with its discounts and without fees.
    pub price: Won,
    /// Absent if it costs the price of its grade, without a fee.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub parts: Option<SeatParts>,
}

/// What the price of a seat consists of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SeatParts {
    /// The price of the grade.
    pub list_price: Won,
    pub type_discount: Won,
    pub code_discount: Won,
    /// The booking fee, in addition to the price.
    pub booking_fee: Won,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ticket_type: Option<TypeMark>,
}

impl ReservedSeat {
    pub fn parts(&self) -> SeatPrice {
        match &self.parts {
            Some(parts) => SeatPrice {
                list: parts.list_price,
                type_off: parts.type_discount,
                code_off: parts.code_discount,
                fee: parts.booking_fee,
            },
            None => SeatPrice { list: self.price, ..SeatPrice::default() },
        }
    }

    pub fn ticket_type(&self) -> Option<&TypeMark> {
        self.parts.as_ref().and_then(|parts| parts.ticket_type.as_ref())
    }

    pub fn paid(&self) -> SeatPaid {
        let fee = self.parts.as_ref().map_or(Won::ZERO, |parts| parts.booking_fee);
        SeatPaid { price: self.price, fee }
    }
}

/// The lines of an order, which add up to its amount.
pub fn lines_of(seats: &[ReservedSeat], code: Option<&str>, order_fee: Won) -> Vec<OrderLine> {
    let seats: Vec<LineSeat<'_>> = seats
        .iter()
        .map(|seat| LineSeat {
            grade: &seat.grade,
            price: seat.parts(),
            ticket_type: seat.ticket_type(),
        })
        .collect();
    lines(&seats, code, order_fee)
}

/// Seats held for a fan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Held {
    pub reservation_id: ReservationId,
    pub status: ReservationStatus,
    pub seats: Vec<ReservedSeat>,
    /// With the fees.
    pub amount: Won,
    pub currency: Currency,
    /// The lines of the order, if it has fees.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<OrderLine>,
    pub hold_expires_at: Timestamp,
}

impl IdempotentAnswer for Held {
    const STATUS: u16 = 201;
}

/// Sets the ticket types and the promotion code of an unpaid order.
#[derive(Clone, Debug)]
pub struct ChooseOrder {
    pub reservation: ReservationId,
    pub user: UserId,
    /// In the order of the request; seats that aren't named cost the full price.
    pub types: Vec<(SeatId, Option<u32>)>,
    /// Cleaned; absent for none.
    pub code: Option<String>,
    pub now: Timestamp,
}

#[derive(Clone, Debug)]
pub struct ReleaseSeats {
    pub reservation: ReservationId,
    pub user: UserId,
    pub now: Timestamp,
}

/// Seats that are free again; the filter is updated after the commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Freed {
    pub user: UserId,
    pub schedule: ScheduleId,
    pub seats: Vec<SeatIndex>,
}

/// A reservation as its owner sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReservationView {
    pub id: ReservationId,
    pub schedule_id: ScheduleId,
    pub status: ReservationStatus,
    pub seats: Vec<ReservedSeat>,
    pub amount: Won,
    pub currency: Currency,
    /// Tickets, discounts and fees. They add up to the amount; those of a reservation that is over
    /// say what it consisted of.
    pub lines: Vec<OrderLine>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub promotion_code: Option<String>,
    pub hold_expires_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub booking_number: Option<String>,
    /// The payment to a virtual account, if one was issued.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deposit_payment_id: Option<PaymentId>,
    /// Whether a refund waits for a bank account.
    pub needs_refund_account: bool,
    pub created_at: Timestamp,
}

#[async_trait]
pub trait Reservations: Send + Sync {
    /// Refusals: `EntryRequired`, `EntryExpired`, `SaleNotOpen`, `SaleClosed`, `SaleStopped`,
    /// `NotEligible`, `SeatNotInPhase`, `SeatLimit`, `SeatTaken`, `HoldChurn`, `NotFound`,
    /// `OrderTooExpensive`, `KeyReused`.
    async fn hold_seats(&self, command: HoldSeats) -> Result<Idempotent<Held>>;

    /// Replaces the types and the code of an order, and with them its amount. A READY payment of the
    /// old amount is canceled. Uses of the code are counted in the same transaction. Refusals:
    /// `NotFound`, `HoldOver`, `PaymentRunning`, `AlreadyPaid`, `AlreadyCanceled`,
    /// `ScheduleCanceled`, `ForeignSeat`, `SeatRepeated`, `TicketTypeUnknown`,
    /// `TicketTypeOtherGrade`, `TicketTypeLimit`, `PromotionWrong`, `PromotionNotBegun`,
    /// `PromotionOver`, `PromotionUsedUp`, `PromotionUsed`, `PromotionOtherGrade`,
    /// `PromotionMinimum`.
    async fn choose_order(&self, command: ChooseOrder) -> Result<ReservationView>;

    /// Refusals: `NotFound` (also for another fan's reservation), `PaymentRunning`, `AlreadyPaid`.
    async fn release_seats(&self, command: ReleaseSeats) -> Result<Option<Freed>>;

    /// Marks at most `limit` expired holds as `EXPIRED`. Never touches a payment in progress.
    async fn expire_holds(&self, now: Timestamp, limit: u32) -> Result<Vec<Freed>>;

    /// The same holds, to be expired one by one.
    async fn holds_over(&self, now: Timestamp, limit: u32) -> Result<Vec<ReservationId>>;

    /// `None` if it has ended in the meantime.
    async fn expire_hold(
        &self,
        reservation: ReservationId,
        now: Timestamp,
    ) -> Result<Option<Freed>>;

    async fn reservations_of(
        &self,
        user: UserId,
        page: PageRequest,
    ) -> Result<Vec<ReservationView>>;

    /// `None` both for another fan's reservation and for one that doesn't exist.
    async fn reservation(
        &self,
        reservation: ReservationId,
        user: UserId,
    ) -> Result<Option<ReservationView>>;

    /// The seats of a schedule that this fan holds or has bought.
    async fn seats_held_by(&self, user: UserId, schedule: ScheduleId) -> Result<Vec<SeatIndex>>;
}
