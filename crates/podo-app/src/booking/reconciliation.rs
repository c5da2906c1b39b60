//! Keeps the seat filter consistent with the store: finds differences, waits until they can't be a
//! race, and corrects the filter. The store decides in any case; a wrong filter costs speed, or
//! blocks the sale of a free seat.

use crate::booking::port::reconciliation::RecordHealing;
use crate::booking::port::seat_filter::Correction;
use crate::context::AppContext;
use crate::error::Result;
use crate::operations::port::leases::Lease;
use futures::stream::{self, StreamExt, TryStreamExt};
use podo_domain::booking::reconciliation::{Claim, Difference, Kind, Suspects, compare};
use podo_domain::id::SeatIndex;
use podo_domain::{ScheduleId, Timestamp};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

/// Seats corrected in one call to the filter.
const STEP_MAX: usize = 500;

/// Schedules that nothing happens to are examined once in so many rounds.
const ROUNDS_FOR_ALL: usize = 10;

/// Schedules whose claims are read at the same time when the filter is filled.
const FILLED_AT_ONCE: usize = 8;

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
    let alive = context.store.schedules_alive(context.now()).await?;
    let fills = alive.iter().map(|record| fill(context, record.schedule)).collect::<Vec<_>>();
    let filled: Vec<u64> =
        stream::iter(fills).buffer_unordered(FILLED_AT_ONCE).try_collect().await?;
    Ok(filled.iter().sum())
}

async fn fill(context: &AppContext, schedule: ScheduleId) -> Result<u64> {
    let claims = context.store.claims_of(schedule, context.now()).await?;
    let correction = |(seat, claim): (&SeatIndex, &Claim)| Correction {
        seat: *seat,
        seen: None,
        right: Some(claim.as_hold()),
    };
    let corrections: Vec<Correction> = claims.iter().map(correction).collect();
    let mut n_filled = 0;
    for step in corrections.chunks(STEP_MAX) {
        n_filled += context.booking.seat_filter.correct(schedule, step, context.now()).await?;
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
    /// When each schedule was last examined.
    looked_at: HashMap<ScheduleId, Timestamp>,
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

    /// The schedules to examine in this round: those that something happened to, those with
    /// suspects, and of the rest the ones whose turn it is.
    pub(crate) fn due(
        &self,
        alive: &[ScheduleId],
        touched: Vec<ScheduleId>,
        now: Timestamp,
    ) -> Vec<ScheduleId> {
        let inner = self.lock();
        let touched: HashSet<ScheduleId> = touched.into_iter().collect();
        let is_urgent = |schedule: &ScheduleId| {
            let has_suspects = inner.suspects.get(schedule).is_some_and(|it| !it.is_empty());
            let is_new = inner.looked_at.get(schedule).is_none_or(|at| now < *at);
            has_suspects || is_new || touched.contains(schedule)
        };
        let (mut due, mut others): (Vec<ScheduleId>, Vec<ScheduleId>) =
            alive.iter().partition(|schedule| is_urgent(schedule));
        others.sort_by_key(|schedule| inner.looked_at.get(schedule).copied());
        due.extend(others.into_iter().take(alive.len().div_ceil(ROUNDS_FOR_ALL)));
        due
    }

    /// A filter that has forgotten every claim of a schedule may have forgotten the others too.
    pub(crate) fn note(&self, schedule: ScheduleId, look: &Look, now: Timestamp) {
        let mut inner = self.lock();
        if look.n_filter == 0 && look.n_store > 0 {
            inner.looked_at.clear();
        }
        inner.looked_at.insert(schedule, now);
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
        let alive: HashSet<&ScheduleId> = schedules.iter().collect();
        inner.suspects.retain(|schedule, _| alive.contains(schedule));
        inner.looked_at.retain(|schedule, _| alive.contains(schedule));
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
