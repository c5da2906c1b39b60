//! The standby list in the store, in a durable order.

use crate::error::Result;
use async_trait::async_trait;
use podo_domain::booking::seats::SeatPick;
use podo_domain::booking::standby::Standby;
use podo_domain::id::SeatIndex;
use podo_domain::{ReservationId, ScheduleId, StandbyId, Timestamp, UserId};

#[derive(Clone, Debug)]
pub struct StandBy {
    pub standby: StandbyId,
    pub user: UserId,
    pub schedule: ScheduleId,
    pub grade: String,
    pub count: u32,
    pub now: Timestamp,
}

/// Holds seats for the next fan on the standby list. The standby entry authorises it, so no queue
/// entry is needed.
#[derive(Clone, Debug)]
pub struct OfferSeats {
    pub standby: StandbyId,
    pub reservation: ReservationId,
    pub user: UserId,
    pub pick: SeatPick,
    pub until: Timestamp,
    pub now: Timestamp,
}

/// A standby entry, and how many entries with the same request are ahead of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StandbyPlace {
    pub standby: Standby,
    pub ahead: u64,
}

#[async_trait]
pub trait Standbys: Send + Sync {
    /// Joins the list, or returns the fan's existing entry. Refusals: `NotFound`, `SaleClosed`.
    async fn stand_by(&self, command: StandBy) -> Result<StandbyPlace>;

    /// The fan's latest standby entry for a schedule.
    async fn standby_of(&self, user: UserId, schedule: ScheduleId) -> Result<Option<StandbyPlace>>;

    /// Refusals: `NotFound`, `StandbyOffered`.
    async fn leave_standby(&self, user: UserId, schedule: ScheduleId, now: Timestamp)
    -> Result<()>;

    /// Waiting entries for dates on sale, oldest first.
    async fn waiting_standbys(&self, now: Timestamp, limit: u32) -> Result<Vec<Standby>>;

    /// Free seats, including those withheld after they were returned.
    async fn free_seats_of(&self, schedule: ScheduleId) -> Result<Vec<SeatIndex>>;

    /// Refusals: `SeatTaken`, `SeatLimit`, `SaleClosed`, `NotFound` (no longer waiting).
    async fn offer_seats(&self, command: OfferSeats) -> Result<()>;

    /// Closes offers that were bought or have expired; returns how many.
    async fn settle_standbys(&self, now: Timestamp, limit: u32) -> Result<u64>;

    /// Ends the wait of a fan who has reached the seat limit.
    async fn lapse_standby(&self, standby: StandbyId, now: Timestamp) -> Result<()>;
}
