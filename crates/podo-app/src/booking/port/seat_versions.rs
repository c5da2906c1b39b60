//! Tells a node that another node changed seats, so that it needn't read all of them again.

#[path = "seat_versions_contract.rs"]
pub mod contract;

use crate::error::Result;
use async_trait::async_trait;
use podo_domain::ScheduleId;
use podo_domain::id::SeatIndex;

/// The seats of a schedule that changed since a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Since {
    /// The current version.
    pub version: u64,
    /// The seats to read again, possibly with duplicates; `None` if the engine doesn't remember
    /// that far back: then all of them.
    pub seats: Option<Vec<SeatIndex>>,
}

/// Every engine keeps these rules; `contract` checks them:
/// - two equal versions of a schedule mean that no call bumped it in between, even if the engine
///   lost its data meanwhile;
/// - `since` names every seat that was bumped after that version, or says that it can't;
/// - schedules don't affect each other.
#[async_trait]
pub trait SeatVersions: Send + Sync {
    /// Marks seats as changed; called after the commit.
    async fn bump(&self, schedule: ScheduleId, seats: &[SeatIndex]) -> Result<()>;

    /// Read this before the seats, so that a change in between is noticed on the next read.
    async fn version(&self, schedule: ScheduleId) -> Result<u64>;

    async fn since(&self, schedule: ScheduleId, version: u64) -> Result<Since>;
}
