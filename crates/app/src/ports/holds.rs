//! The filter in front of the database: refuses most losers of a race in memory.

pub mod contract;

use crate::error::Result;
use async_trait::async_trait;
use domain::id::SeatIndex;
use domain::reconciliation::FilterHold;
use domain::seats::SeatPick;
use domain::{ScheduleId, Timestamp, UserId};
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Taken {
    Yes,
    /// These seats are somebody's. `by_self` when all of them are the asking fan's own.
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
/// - a hold past its time is as good as gone, swept or not;
/// - `release` touches only holds of that fan;
/// - `correct` touches a seat only when the filter still knows exactly what was seen, so that
///   whoever corrects late does no harm;
/// - the filter may forget anything at any time: the database decides who gets a seat.
#[async_trait]
pub trait Holds: Send + Sync {
    /// The seats of a pick that are somebody else's, by what this process knows without asking:
    /// nothing when it does not know, or when all of them are the fan's own. A release on another
    /// node may be heard of a moment late, no more than that.
    fn refusal_at_hand(
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

    /// Sets how long the fan keeps these seats, whatever the filter thought before: the database
    /// has decided. A sold seat is kept until [`Timestamp::FAR_FUTURE`].
    async fn keep(
        &self,
        schedule: ScheduleId,
        seats: &[SeatIndex],
        fan: UserId,
        until: Timestamp,
    ) -> Result<()>;

    async fn release(&self, schedule: ScheduleId, seats: &[SeatIndex], fan: UserId) -> Result<()>;

    /// Every hold of a schedule that is not past its time.
    async fn known(
        &self,
        schedule: ScheduleId,
        now: Timestamp,
    ) -> Result<BTreeMap<SeatIndex, FilterHold>>;

    /// Corrects what the filter knows; says how many seats still were as seen.
    async fn correct(
        &self,
        schedule: ScheduleId,
        corrections: &[Correction],
        now: Timestamp,
    ) -> Result<u64>;
}
