//! Keeps the filter in front of the seats true to the store: finds where they disagree, waits
//! until it is no race, and corrects the filter. The store decides in any case; a filter that is
//! wrong costs speed, or sales of a seat that nobody has.

use crate::error::Result;
use crate::platform::Platform;
use crate::ports::holds::Correction;
use crate::ports::leases::Lease;
use crate::ports::reconciliation::RecordHealing;
use domain::id::SeatIndex;
use domain::reconciliation::{Claim, Difference, Kind, Suspects, compare};
use domain::{ScheduleId, Timestamp};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

/// Seats corrected in one step of the filter.
const STEP_MAX: usize = 500;

/// What a look at one schedule found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// Seats that the filter refuses.
    pub n_filter: usize,
    /// Seats that are somebody's in the store.
    pub n_store: usize,
    pub differences: Vec<Difference>,
}

/// Compares filter and store once. The filter is asked first: a hold that is committed in between
/// is then found on both sides.
pub async fn look(platform: &Platform, schedule: ScheduleId) -> Result<Look> {
    let filter = platform.holds.known(schedule, platform.now()).await?;
    let store = platform.store.claims_of(schedule, platform.now()).await?;
    let differences = compare(&filter, &store);
    Ok(Look { n_filter: filter.len(), n_store: store.len(), differences })
}

/// Corrects the filter where it still knows exactly what was seen, after writing the audit entry;
/// says how many seats. A node that does not lead any more is refused before it touches anything.
pub async fn heal(
    platform: &Platform,
    schedule: ScheduleId,
    differences: &[Difference],
    lease: Option<Lease>,
) -> Result<u64> {
    if differences.is_empty() {
        return Ok(0);
    }
    let counts = count(differences);
    let now = platform.now();
    platform.store.record_healing(RecordHealing { schedule, counts, lease, now }).await?;
    let mut n_healed = 0;
    for step in differences.chunks(STEP_MAX) {
        let corrections: Vec<Correction> = step.iter().map(correction).collect();
        n_healed += platform.holds.correct(schedule, &corrections, platform.now()).await?;
    }
    platform.reconciliation.count_healed(differences);
    tracing::warn!(schedule.id = %schedule, n_healed, "The filter of the seats was corrected");
    Ok(n_healed)
}

/// Tells a filter that may know nothing what the store knows of the dates on sale, so that losers
/// are refused without the store from the first request on. What the filter knows stays.
pub async fn fill_filter(platform: &Platform) -> Result<u64> {
    let mut n_filled = 0;
    for record in platform.store.schedules_alive(platform.now()).await? {
        let claims = platform.store.claims_of(record.schedule, platform.now()).await?;
        let fill = |(seat, claim): (&SeatIndex, &Claim)| Correction {
            seat: *seat,
            seen: None,
            right: Some(claim.as_hold()),
        };
        let corrections: Vec<Correction> = claims.iter().map(fill).collect();
        for step in corrections.chunks(STEP_MAX) {
            n_filled += platform.holds.correct(record.schedule, step, platform.now()).await?;
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

/// How many differences there are of each kind.
pub fn count(differences: &[Difference]) -> BTreeMap<Kind, u64> {
    let mut counts = BTreeMap::new();
    for difference in differences {
        *counts.entry(difference.kind()).or_default() += 1;
    }
    counts
}

/// What this node remembers between rounds, and what it counts.
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
    /// Differences at the last look that may still be a race.
    pub suspected: u64,
    pub healed: BTreeMap<Kind, u64>,
}

impl Reconciliation {
    pub fn totals(&self) -> Totals {
        self.lock().totals.clone()
    }

    /// Which of the differences are no race; see [`Suspects::confirm`].
    pub(crate) fn confirm(
        &self,
        schedule: ScheduleId,
        found: Vec<Difference>,
        grace: Duration,
        now: Timestamp,
    ) -> Vec<Difference> {
        self.lock().suspects.entry(schedule).or_default().confirm(found, grace, now)
    }

    /// A round over these schedules is done: others are forgotten.
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
        self.inner.lock().expect("nothing panics under this lock")
    }
}
