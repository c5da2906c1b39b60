//! Holding and releasing seats in the store. The database decides who gets a seat.

use crate::error::Result;
use crate::operations::port::idempotency::{IdempotencyKey, Idempotent, IdempotentAnswer};
use crate::store::PageAsk;
use async_trait::async_trait;
use podo_domain::booking::reservations::ReservationStatus;
use podo_domain::booking::seats::SeatPick;
use podo_domain::id::SeatIndex;
use podo_domain::waiting_room::Entry;
use podo_domain::{ReservationId, ScheduleId, SeatId, Timestamp, UserId, Won};
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
    pub price: Won,
}

/// Seats held for a fan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Held {
    pub reservation_id: ReservationId,
    pub status: ReservationStatus,
    pub seats: Vec<ReservedSeat>,
    pub amount: Won,
    pub hold_expires_at: Timestamp,
}

impl IdempotentAnswer for Held {
    const STATUS: u16 = 201;
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
    pub hold_expires_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub booking_number: Option<String>,
    pub created_at: Timestamp,
}

#[async_trait]
pub trait Reservations: Send + Sync {
    /// Refusals: `EntryRequired`, `EntryExpired`, `SaleNotOpen`, `SaleClosed`, `SaleStopped`,
    /// `NotEligible`, `SeatNotInPhase`, `SeatLimit`, `SeatTaken`, `HoldChurn`, `NotFound`,
    /// `KeyReused`.
    async fn hold_seats(&self, command: HoldSeats) -> Result<Idempotent<Held>>;

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

    async fn reservations_of(&self, user: UserId, page: PageAsk) -> Result<Vec<ReservationView>>;

    /// `None` both for another fan's reservation and for one that doesn't exist.
    async fn reservation(
        &self,
        reservation: ReservationId,
        user: UserId,
    ) -> Result<Option<ReservationView>>;

    /// The seats of a schedule that this fan holds or has bought.
    async fn seats_held_by(&self, user: UserId, schedule: ScheduleId) -> Result<Vec<SeatIndex>>;
}
