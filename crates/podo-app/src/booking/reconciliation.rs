//! Keeps the seat filter consistent with the store: finds differences, waits until they can't be a
//! race, and corrects the filter. The store decides in any case; a wrong filter costs speed, or
//! blocks the sale of a free seat.

use crate::booking::port::reconciliation::RecordHealing;
use crate::booking::port::seat_filter::Correction;
use crate::context::AppContext;
use crate::error::Result;
use crate::operations::port::leases::Lease;
use podo_domain::booking::reconciliation::{Claim, Difference, Kind, Suspects, compare};
use podo_domain::id::SeatIndex;
use podo_domain::{ScheduleId, Timestamp};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

/// Seats corrected in one call to the filter.
const STEP_MAX: usize = 500;

/// The comparison of one schedule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// Seats that the filter refuses.
    pub n_filter: usize,
    /// Seats that are held or sold in the store.
    pub n_store: usize,
    pub differences: Vec<Difference>,
}

/// Compares filter and store once. It reads the filter first, so that a hold committed in between
/// is found on both sides.
pub async fn look(context: &AppContext, schedule: ScheduleId) -> Result<Look> {
    let filter = context.booking.seat_filter.known(schedule, context.now()).await?;
    let store = context.store.claims_of(schedule, context.now()).await?;
    let differences = compare(&filter, &store);
    Ok(Look { n_filter: filter.len(), n_store: store.len(), differences })
}

/// Corrects the filter where it still holds exactly what was seen, after writing the audit entry;
/// returns how many seats. A node that has lost the lease is refused before it changes anything.
pub async fn heal(
    context: &AppContext,
    schedule: ScheduleId,
    differences: &[Difference],
    lease: Option<Lease>,
) -> Result<u64> {
    if differences.is_empty() {
        return Ok(0);
    }
    let counts = count(differences);
    let now = context.now();
    context.store.record_healing(RecordHealing { schedule, counts, lease, now }).await?;
    let mut n_healed = 0;
    for step in differences.chunks(STEP_MAX) {
        let corrections: Vec<Correction> = step.iter().map(correction).collect();
        n_healed +=
            context.booking.seat_filter.correct(schedule, &corrections, context.now()).await?;
    }
    context.booking.reconciliation.count_healed(differences);
    tracing::warn!(schedule.id = %schedule, n_healed, "Corrected the seat filter");
    Ok(n_healed)
}

/// Fills an empty filter from the store for the dates on sale, so that it refuses losers from the
/// first request on. Existing holds in the filter stay.
pub async fn fill_filter(context: &AppContext) -> Result<u64> {
    let mut n_filled = 0;
    for record in context.store.schedules_alive(context.now()).await? {
        let claims = context.store.claims_of(record.schedule, context.now()).await?;
        let fill = |(seat, claim): (&SeatIndex, &Claim)| Correction {
            seat: *seat,
            seen: None,
            right: Some(claim.as_hold()),
        };
        let corrections: Vec<Correction> = claims.iter().map(fill).collect();
        for step in corrections.chunks(STEP_MAX) {
            n_filled +=
                context.booking.seat_filter.correct(record.schedule, step, context.now()).await?;
        }
    }
    Ok(n_filled)
}

fn correction(difference: &Difference) -> Correction {
    Correction {
        seat: difference.seat,
        seen: difference.filter,
        right: difference.store.map(|claim| claim.as_hold()),
    }
}

/// Counts the differences by kind.
pub fn count(differences: &[Difference]) -> BTreeMap<Kind, u64> {
    let mut counts = BTreeMap::new();
    for difference in differences {
        *counts.entry(difference.kind()).or_default() += 1;
    }
    counts
}

/// This node's state between rounds, and its counters.
#[derive(Default)]
pub struct Reconciliation {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    suspects: HashMap<ScheduleId, Suspects>,
    totals: Totals,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    pub rounds: u64,
    /// Differences of the last comparison that may still be a race.
    pub suspected: u64,
    pub healed: BTreeMap<Kind, u64>,
}

impl Reconciliation {
    pub fn totals(&self) -> Totals {
        self.lock().totals.clone()
    }

    /// Which differences aren't a race; see [`Suspects::confirm`].
    pub(crate) fn confirm(
        &self,
        schedule: ScheduleId,
        found: Vec<Difference>,
        grace: Duration,
        now: Timestamp,
    ) -> Vec<Difference> {
        self.lock().suspects.entry(schedule).or_default().confirm(found, grace, now)
    }

    /// Ends a round over these schedules; suspects of other schedules are dropped.
    pub(crate) fn finish_round(&self, schedules: &[ScheduleId], suspected: u64) {
        let mut inner = self.lock();
        inner.suspects.retain(|schedule, _| schedules.contains(schedule));
        inner.totals.rounds += 1;
        inner.totals.suspected = suspected;
    }

    fn count_healed(&self, differences: &[Difference]) {
        let mut inner = self.lock();
        for (kind, n) in count(differences) {
            *inner.totals.healed.entry(kind).or_default() += n;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().expect("the lock is never poisoned")
    }
}
