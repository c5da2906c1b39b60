//! Allocations in the store: seats that organisers keep from sale.

use crate::booking::port::reservations::Freed;
use crate::error::Result;
use async_trait::async_trait;
use podo_domain::booking::allocations::{AllocationKind, AllocationTerms, KeepPick};
use podo_domain::id::SeatIndex;
use podo_domain::{AllocationId, ScheduleId, SeatId, Timestamp, UserId};
use serde::Serialize;
use utoipa::ToSchema;

/// Creates an allocation without seats.
#[derive(Clone, Debug)]
pub struct CreateAllocation {
    pub actor: UserId,
    pub schedule: ScheduleId,
    pub allocation: AllocationId,
    pub terms: AllocationTerms,
    /// The first seats; none if they follow later.
    pub seats: Option<KeepPick>,
    pub now: Timestamp,
}

/// Replaces the terms of an allocation.
#[derive(Clone, Debug)]
pub struct ChangeAllocation {
    pub actor: UserId,
    pub schedule: ScheduleId,
    pub allocation: AllocationId,
    pub terms: AllocationTerms,
    pub now: Timestamp,
}

/// Adds seats to an allocation, all or none. Seats that it already keeps stay as they are.
#[derive(Clone, Debug)]
pub struct KeepSeats {
    pub actor: UserId,
    pub allocation: AllocationId,
    pub seats: KeepPick,
    pub now: Timestamp,
}

/// Puts kept seats on sale.
#[derive(Clone, Debug)]
pub struct ReleaseKept {
    /// Absent for the job that releases at a time.
    pub actor: Option<UserId>,
    pub schedule: ScheduleId,
    pub allocation: AllocationId,
    /// These seats, all or none. Without them the allocation ends and keeps nothing any more.
    pub seats: Option<KeepPick>,
    pub now: Timestamp,
}

/// An allocation as organisers see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AllocationView {
    pub id: AllocationId,
    pub schedule_id: ScheduleId,
    pub name: String,
    pub kind: AllocationKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// When the seats go on sale by themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub release_at: Option<Timestamp>,
    /// When the whole allocation went on sale.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub released_at: Option<Timestamp>,
    /// Seats that are kept and not sold.
    pub kept: u32,
    /// Seats of the allocation that have an order.
    pub issued: u32,
}

/// A seat of an allocation that isn't released.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AllocatedSeat {
    pub seat_id: SeatId,
    pub allocation_id: AllocationId,
    /// Whether it has an order.
    pub issued: bool,
}

/// What a command changed; the live engines are updated after the commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllocationChange {
    pub view: AllocationView,
    /// The seats that are kept or released now and weren't before.
    pub seats: Vec<SeatIndex>,
    /// Expired holds that ended.
    pub freed: Vec<Freed>,
}

/// An allocation whose time of release has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DueRelease {
    pub allocation: AllocationId,
    pub schedule: ScheduleId,
}

/// Every engine keeps these rules: a kept seat can't be held, offered or sold to the public, and
/// every command is all or nothing.
#[async_trait]
pub trait Allocations: Send + Sync {
    /// Refusals: `NotFound`, `InvalidAllocation`, `AllocationExists`, `SeatsNotFree`.
    async fn create_allocation(&self, command: CreateAllocation) -> Result<AllocationChange>;

    /// Refusals: `NotFound`, `InvalidAllocation`, `AllocationExists`, `AllocationReleased`.
    async fn change_allocation(&self, command: ChangeAllocation) -> Result<AllocationView>;

    /// Refusals: `NotFound` (also for a seat that doesn't exist), `AllocationReleased`,
    /// `SeatsNotFree`.
    async fn keep_seats(&self, command: KeepSeats) -> Result<AllocationChange>;

    /// Refusals: `NotFound`, `AllocationReleased`, `SeatsNotKept`, `KeptSeatsSold`.
    async fn release_kept(&self, command: ReleaseKept) -> Result<AllocationChange>;

    /// Oldest first, with the released ones.
    async fn allocations_of(&self, schedule: ScheduleId) -> Result<Vec<AllocationView>>;

    async fn allocated_seats(&self, schedule: ScheduleId) -> Result<Vec<AllocatedSeat>>;

    /// At most `limit`, without those in back-off after a failed attempt.
    async fn releases_due(&self, now: Timestamp, limit: u32) -> Result<Vec<DueRelease>>;
}
