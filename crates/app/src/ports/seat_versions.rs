//! How a node learns that another one changed seats, without reading them all again.

pub mod contract;

use crate::error::Result;
use async_trait::async_trait;
use domain::ScheduleId;
use domain::id::SeatIndex;

/// What happened to the seats of a schedule since a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Since {
    /// The version now.
    pub version: u64,
    /// The seats to look at again, some of them more than once; nothing when the engine does not
    /// remember that far back: then all of them.
    pub seats: Option<Vec<SeatIndex>>,
}

/// Every engine keeps these rules; `contract` checks them:
/// - two equal versions of a schedule mean that nobody bumped it in between, also when the engine
///   forgot everything meanwhile;
/// - `since` names every seat that was bumped after that version, or says that it cannot;
/// - schedules do not disturb each other.
#[async_trait]
pub trait SeatVersions: Send + Sync {
    /// These seats changed: called after the commit.
    async fn bump(&self, schedule: ScheduleId, seats: &[SeatIndex]) -> Result<()>;

    /// Read before the seats, so that a change in between is noticed the next time.
    async fn version(&self, schedule: ScheduleId) -> Result<u64>;

    async fn since(&self, schedule: ScheduleId, version: u64) -> Result<Since>;
}
