//! The standby list in the store: an order that everybody can rely on.

use crate::error::Result;
use async_trait::async_trait;
use domain::id::SeatIndex;
use domain::seats::SeatPick;
use domain::standby::Standby;
use domain::{ReservationId, ScheduleId, StandbyId, Timestamp, UserId};

#[derive(Clone, Debug)]
pub struct StandBy {
    pub standby: StandbyId,
    pub user: UserId,
    pub schedule: ScheduleId,
    pub grade: String,
    pub count: u32,
    pub now: Timestamp,
}

/// Holds seats for the fan whose turn it is: the list is the proof of their right, not an entry.
#[derive(Clone, Debug)]
pub struct OfferSeats {
    pub standby: StandbyId,
    pub reservation: ReservationId,
    pub user: UserId,
    pub pick: SeatPick,
    pub until: Timestamp,
    pub now: Timestamp,
}

/// A standby and how many of the same wish are before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub standby: Standby,
    pub ahead: u64,
}

#[async_trait]
pub trait Standbys: Send + Sync {
    /// Joins the list, or finds the fan in it. Refusals: `NotFound`, `SaleClosed`.
    async fn stand_by(&self, command: StandBy) -> Result<Place>;

    /// The fan's latest standby for a schedule.
    async fn standby_of(&self, user: UserId, schedule: ScheduleId) -> Result<Option<Place>>;

    /// Refusals: `NotFound`, `StandbyOffered`.
    async fn leave_standby(&self, user: UserId, schedule: ScheduleId, now: Timestamp)
    -> Result<()>;

    /// Those who wait for dates on sale, first come first.
    async fn waiting_standbys(&self, now: Timestamp, limit: u32) -> Result<Vec<Standby>>;

    /// Seats that nobody has, also those that rest.
    async fn free_seats_of(&self, schedule: ScheduleId) -> Result<Vec<SeatIndex>>;

    /// Refusals: `SeatTaken`, `SeatLimit`, `SaleClosed`, `NotFound` (not waiting any more).
    async fn offer_seats(&self, command: OfferSeats) -> Result<()>;

    /// Ends offers that were bought or not taken in time; says how many.
    async fn settle_standbys(&self, now: Timestamp, limit: u32) -> Result<u64>;

    /// Ends the wait of a fan who has all the seats that they may have.
    async fn lapse_standby(&self, standby: StandbyId, now: Timestamp) -> Result<()>;
}
