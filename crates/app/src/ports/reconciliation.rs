//! What the store says of the seats, for comparison, and what is remembered of a healing.

use super::leases::Lease;
use crate::error::Result;
use async_trait::async_trait;
use domain::id::SeatIndex;
use domain::reconciliation::{Claim, Kind};
use domain::{ScheduleId, Timestamp};
use std::collections::BTreeMap;

/// An entry of the audit log, made before the filter is healed.
#[derive(Clone, Debug)]
pub struct RecordHealing {
    pub schedule: ScheduleId,
    pub counts: BTreeMap<Kind, u64>,
    /// The lead under which it happens; none when an operator asked for it.
    pub lease: Option<Lease>,
    pub now: Timestamp,
}

#[async_trait]
pub trait Reconciliation: Send + Sync {
    /// The seats of a schedule that are somebody's at this moment.
    async fn claims_of(
        &self,
        schedule: ScheduleId,
        now: Timestamp,
    ) -> Result<BTreeMap<SeatIndex, Claim>>;

    /// `Unavailable` when another node leads by now: then nothing may be healed.
    async fn record_healing(&self, command: RecordHealing) -> Result<()>;
}
