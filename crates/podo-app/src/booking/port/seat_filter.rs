//! The filter in front of the database: it refuses most losers of a race in memory.

#[path = "seat_filter_contract.rs"]
pub mod contract;

use crate::error::Result;
use async_trait::async_trait;
use podo_domain::booking::reconciliation::FilterHold;
use podo_domain::booking::seats::SeatPick;
use podo_domain::id::SeatIndex;
use podo_domain::{ScheduleId, Timestamp, UserId};
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Taken {
    Yes,
    /// These seats are taken. `by_self` if all of them belong to the requesting fan.
    Blocked {
        seats: Vec<SeatIndex>,
        by_self: bool,
    },
}

/// What was seen of a seat, and what is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Correction {
    pub seat: SeatIndex,
    pub seen: Option<FilterHold>,
    pub right: Option<FilterHold>,
}

/// Every engine keeps these rules; `contract` checks them:
/// - `take` is all or nothing;
/// - an expired hold counts as gone, swept or not;
/// - `release` touches only holds of that fan;
/// - `correct` touches a seat only if the filter still holds exactly what was seen, so that a late
///   correction does no harm;
/// - the filter may forget anything at any time: the database decides who gets a seat.
#[async_trait]
pub trait SeatFilter: Send + Sync {
    /// The seats of a pick that other fans have, from this process's memory without I/O. `None` if
    /// it doesn't know, or if all of them are the fan's own. A release on another node may arrive a
    /// moment late.
    fn cached_refusal(
        &self,
        _pick: &SeatPick,
        _fan: UserId,
        _now: Timestamp,
    ) -> Option<Vec<SeatIndex>> {
        None
    }

    async fn take(
        &self,
        pick: &SeatPick,
        fan: UserId,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<Taken>;

    /// Sets until when the fan keeps these seats, whatever the filter held before: the database has
    /// decided. A sold seat is kept until [`Timestamp::FAR_FUTURE`].
    async fn keep(
        &self,
        schedule: ScheduleId,
        seats: &[SeatIndex],
        fan: UserId,
        until: Timestamp,
    ) -> Result<()>;

    async fn release(&self, schedule: ScheduleId, seats: &[SeatIndex], fan: UserId) -> Result<()>;

    /// Every live hold of a schedule.
    async fn known(
        &self,
        schedule: ScheduleId,
        now: Timestamp,
    ) -> Result<BTreeMap<SeatIndex, FilterHold>>;

    /// Corrects the filter; returns how many seats still were as seen.
    async fn correct(
        &self,
        schedule: ScheduleId,
        corrections: &[Correction],
        now: Timestamp,
    ) -> Result<u64>;
}
