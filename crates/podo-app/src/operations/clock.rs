//! The shared time: each node's own clock, corrected to the store's.
//!
//! Holds, entries, leases and openings begin or end by comparing a stored moment with `now`. A node
//! whose clock is ahead would expire what another node has just created, so every node measures the
//! offset of its clock from the store's and adds it.

use crate::error::Result;
use crate::operations::port::clock::{Clock, ReferenceClock};
use podo_domain::Timestamp;
use podo_domain::operations::clock::ClockOffset;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How often a node compares its clock with the store's.
pub const SYNC_EVERY: Duration = Duration::from_secs(2);

/// An offset change that deserves a warning: the machine's time service doesn't work.
const WORTH_A_WARNING_MS: i64 = 1_000;

pub struct SyncedClock {
    local: Arc<dyn Clock>,
    offset_ms: AtomicI64,
    known: Mutex<Option<ClockOffset>>,
}

impl SyncedClock {
    pub fn new(local: Arc<dyn Clock>) -> SyncedClock {
        SyncedClock { local, offset_ms: AtomicI64::new(0), known: Mutex::new(None) }
    }

    /// The last accepted measurement; `None` if the reference has no clock of its own.
    pub fn offset(&self) -> Option<ClockOffset> {
        *self.known.lock().expect("the lock is never poisoned")
    }

    /// Measures the offset and corrects `now`.
    pub async fn sync(&self, reference: &dyn ReferenceClock) -> Result<()> {
        let asked_at = self.local.now();
        let Some(shared) = reference.shared_time().await? else { return Ok(()) };
        let newer = ClockOffset::measured(asked_at, shared, self.local.now());
        let mut known = self.known.lock().expect("the lock is never poisoned");
        let offset = known.map_or(newer, |known| known.updated(newer));
        let changed_ms = offset.ms - known.map_or(0, |known| known.ms);
        if changed_ms.abs() >= WORTH_A_WARNING_MS {
            let ahead_s = -offset.ms as f64 / 1_000.0;
            tracing::warn!(
                ahead_s,
                "This machine's clock differs from the store's; using the store's time. \
                 Check the time service of both machines"
            );
        }
        *known = Some(offset);
        self.offset_ms.store(offset.ms, Ordering::Relaxed);
        Ok(())
    }
}

impl Clock for SyncedClock {
    fn now(&self) -> Timestamp {
        let local = self.local.now();
        Timestamp::from_ms(local.ms().saturating_add(self.offset_ms.load(Ordering::Relaxed)))
    }
}
