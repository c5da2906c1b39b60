//! The store's view of the seats, for comparison, and the audit record of corrections.

use crate::error::Result;
use crate::operations::port::leases::Lease;
use async_trait::async_trait;
use podo_domain::booking::reconciliation::{Claim, Kind};
use podo_domain::id::SeatIndex;
use podo_domain::{ScheduleId, Timestamp};
use std::collections::BTreeMap;

/// The audit entry written before the filter is corrected.
#[derive(Clone, Debug)]
pub struct RecordHealing {
    pub schedule: ScheduleId,
    pub counts: BTreeMap<Kind, u64>,
    /// The lease under which this happens; `None` if an operator requested it.
    pub lease: Option<Lease>,
    pub now: Timestamp,
}

#[async_trait]
pub trait Reconciliation: Send + Sync {
    /// The seats of a schedule that are held or sold now.
    async fn claims_of(
        &self,
        schedule: ScheduleId,
        now: Timestamp,
    ) -> Result<BTreeMap<SeatIndex, Claim>>;

    /// Schedules where fans are inside now, or where a claim has changed since then.
    async fn schedules_touched(&self, since: Timestamp, now: Timestamp) -> Result<Vec<ScheduleId>>;

    /// `Unavailable` if another node holds the lease by now: then nothing may be corrected.
    async fn record_healing(&self, command: RecordHealing) -> Result<()>;
}
