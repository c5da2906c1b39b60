//! Holding seats and giving them back, in the store. The database decides who gets a seat.

use super::keys::{Answer, KeyUse, Once};
use crate::error::Result;
use crate::paging::PageAsk;
use async_trait::async_trait;
use domain::id::SeatIndex;
use domain::queue::Entry;
use domain::reservations::ReservationStatus;
use domain::seats::SeatPick;
use domain::{ReservationId, ScheduleId, SeatId, Timestamp, UserId, Won};
use serde::Serialize;
use utoipa::ToSchema;

/// Holds seats for one fan: all of them or none, in one transaction.
#[derive(Clone, Debug)]
pub struct HoldSeats {
    pub key: KeyUse,
    pub reservation: ReservationId,
    pub user: UserId,
    pub pick: SeatPick,
    /// The live entry that allows it; checked again inside the transaction.
    pub entry: Entry,
    pub until: Timestamp,
    /// Whether somebody who lets holds go again and again is made to pause.
    pub limits_churn: bool,
    pub now: Timestamp,
}

/// A seat as it was promised.
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

impl Answer for Held {
    const STATUS: u16 = 201;
}

#[derive(Clone, Debug)]
pub struct ReleaseSeats {
    pub reservation: ReservationId,
    pub user: UserId,
    pub now: Timestamp,
}

/// Seats that are nobody's again: the filter is told after the commit.
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
    /// Refusals: `EntryRequired`, `EntryExpired`, `SaleNotOpen`, `SaleClosed`,
    /// `SaleStopped`, `SeatLimit`, `SeatTaken`, `HoldChurn`, `NotFound`, `KeyReused`.
    async fn hold_seats(&self, command: HoldSeats) -> Result<Once<Held>>;

    /// Refusals: `NotFound` (also for somebody else's), `PaymentRunning`, `AlreadyPaid`.
    async fn release_seats(&self, command: ReleaseSeats) -> Result<Option<Freed>>;

    /// Turns holds whose time is up to `EXPIRED`, at most `limit` of them. Never touches a
    /// payment under way.
    async fn expire_holds(&self, now: Timestamp, limit: u32) -> Result<Vec<Freed>>;

    /// The same holds, to be ended one by one.
    async fn holds_over(&self, now: Timestamp, limit: u32) -> Result<Vec<ReservationId>>;

    /// `None` when it was ended meanwhile.
    async fn expire_hold(
        &self,
        reservation: ReservationId,
        now: Timestamp,
    ) -> Result<Option<Freed>>;

    async fn reservations_of(&self, user: UserId, page: PageAsk) -> Result<Vec<ReservationView>>;

    /// `None` for somebody else's as for one that does not exist.
    async fn reservation(
        &self,
        reservation: ReservationId,
        user: UserId,
    ) -> Result<Option<ReservationView>>;

    /// The seats of a schedule that this fan holds or has bought.
    async fn seats_held_by(&self, user: UserId, schedule: ScheduleId) -> Result<Vec<SeatIndex>>;
}
