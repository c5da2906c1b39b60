//! The filter in front of the database: refuses most losers of a race in memory.

pub mod contract;

use crate::error::Result;
use async_trait::async_trait;
use domain::id::SeatIndex;
use domain::seats::SeatPick;
use domain::{ScheduleId, Timestamp, UserId};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Taken {
    Yes,
    /// These seats are somebody's. `by_self` when all of them are the asking fan's own.
    Blocked {
        seats: Vec<SeatIndex>,
        by_self: bool,
    },
}

/// Every engine keeps these rules; `contract` checks them:
/// - `take` is all or nothing;
/// - a hold past its time is as good as gone, swept or not;
/// - `release` touches only holds of that fan;
/// - the filter may forget anything at any time: the database decides who gets a seat.
#[async_trait]
pub trait Holds: Send + Sync {
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
}
