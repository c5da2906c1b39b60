//! Cache invalidation of the catalog across all nodes that share a Redis.

use crate::live::redis::{Connection, SeatVersions};
use async_trait::async_trait;
use podo_app::Result;
use podo_app::booking::port::seat_versions::SeatVersions as _;
use podo_app::catalog::invalidation;
use podo_domain::ScheduleId;
use uuid::Uuid;

/// Nodes of earlier versions bump the seats of this schedule when the catalog changes. The key
/// stays the same so that old and new nodes invalidate each other during an upgrade.
const CATALOG: ScheduleId = ScheduleId::new(Uuid::nil());

pub struct Invalidation {
    versions: SeatVersions,
}

impl Invalidation {
    pub fn new(connection: Connection) -> Invalidation {
        Invalidation { versions: SeatVersions::new(connection) }
    }
}

#[async_trait]
impl invalidation::Invalidation for Invalidation {
    async fn invalidate(&self) -> Result<()> {
        self.versions.bump(CATALOG, &[]).await
    }

    async fn version(&self) -> Result<u64> {
        self.versions.version(CATALOG).await
    }
}
