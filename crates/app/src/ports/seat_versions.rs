//! How a node learns that another one changed seats, without reading them all again.

pub mod contract;

use crate::error::Result;
use async_trait::async_trait;
use domain::ScheduleId;

/// Every engine keeps these rules; `contract` checks them:
/// - two equal versions of a schedule mean that nobody bumped it in between, also when the engine
///   forgot everything meanwhile;
/// - schedules do not disturb each other.
#[async_trait]
pub trait SeatVersions: Send + Sync {
    /// Seats of this schedule changed: called after the commit.
    async fn bump(&self, schedule: ScheduleId) -> Result<()>;

    /// Read before the seats, so that a change in between is noticed the next time.
    async fn version(&self, schedule: ScheduleId) -> Result<u64>;
}
