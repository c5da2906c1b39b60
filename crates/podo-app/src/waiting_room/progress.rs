//! Progress of a queue. It is identical for every fan, so each node caches it.

use crate::cache::{Cache, SingleFlight};
use crate::catalog::port::ScheduleRecord;
use crate::context::AppContext;
use podo_domain::booking::seats::SeatFace;
use podo_domain::catalog::phases::Phase;
use podo_domain::id::SeatIndex;
use podo_domain::waiting_room::QueueCounts;
use podo_domain::{ScheduleId, Timestamp};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, RwLock};
use std::time::Duration;

/// Age from which a caller refreshes the entry.
const FRESH_FOR: Duration = Duration::from_millis(500);

/// Entries older than this don't count as cached, so a caller has to query the engine.
const KNOWN_FOR: Duration = Duration::from_secs(1);

/// Unknown schedules never get this far.
const SCHEDULES_MAX: usize = 10_000;

/// Seat counts as the map shows them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeatsLeft {
    pub available: u32,
    pub held: u32,
}

#[derive(Clone, Debug, Default)]
pub struct Progress {
    pub counts: QueueCounts,
    /// `None` until the first read, and while the store doesn't answer.
    pub seats: Option<SeatsLeft>,
    /// The engine doesn't answer; these are the last known values.
    pub is_away: bool,
    asked_at: Option<Timestamp>,
}

/// Whether the last query is less than `length` ago.
fn is_within(asked_at: Option<Timestamp>, length: Duration, now: Timestamp) -> bool {
    asked_at.is_some_and(|at| now < at.plus(length))
}

#[derive(Default)]
struct CacheEntry {
    progress: RwLock<Arc<Progress>>,
    is_renewing: AtomicBool,
}

impl CacheEntry {
    fn progress(&self) -> Arc<Progress> {
        self.progress.read().expect("the lock is never poisoned").clone()
    }
}

pub struct Progresses(Cache<ScheduleId, Arc<CacheEntry>>);

impl Default for Progresses {
    fn default() -> Progresses {
        Progresses(Cache::of(SCHEDULES_MAX))
    }
}

impl Progresses {
    /// The cached progress, without I/O.
    pub fn cached(&self, schedule: ScheduleId, now: Timestamp) -> Option<Arc<Progress>> {
        let progress = self.0.get(&schedule)?.progress();
        is_within(progress.asked_at, KNOWN_FOR, now).then_some(progress)
    }

    /// One caller refreshes while the others use the cached value, which is empty at first.
    pub async fn get(
        &self,
        context: &AppContext,
        record: &ScheduleRecord,
        now: Timestamp,
    ) -> Arc<Progress> {
        let cached = self.0.get_or_default(&record.schedule);
        let before = cached.progress();
        if is_within(before.asked_at, FRESH_FOR, now) {
            return before;
        }
        let Some(_flight) = SingleFlight::take(&cached.is_renewing) else { return before };
        let progress = Arc::new(renewed(context, record, &before, now).await);
        *cached.progress.write().expect("the lock is never poisoned") = progress.clone();
        progress
    }

    pub fn forget(&self, schedule: ScheduleId) {
        self.0.remove(&schedule);
    }
}

async fn renewed(
    context: &AppContext,
    record: &ScheduleRecord,
    before: &Progress,
    now: Timestamp,
) -> Progress {
    let counts = context.waiting_room.queue.counts(record.schedule, now).await;
    let is_away = counts.is_err();
    let counts = counts.unwrap_or(before.counts);
    // Only a hint: without it the answer has no `chance`.
    let map = context.booking.seat_maps.snapshot(context, record.schedule.date()).await.ok();
    let seats = map.map(|map| SeatsLeft::on(map.letters(), record.phase()));
    Progress { counts, is_away, seats, asked_at: Some(now) }
}

impl SeatsLeft {
    /// Counts the letters of a seat map; of a phase's waiting room, only the seats that it sells.
    fn on(letters: &[u8], phase: Option<&Phase>) -> SeatsLeft {
        let sells = |seat| phase.is_none_or(|phase| phase.sells(seat));
        let count = |face: SeatFace| {
            let is_counted =
                |(seat, letter): &(SeatIndex, &u8)| **letter == face.letter() && sells(*seat);
            let n_seats = (0..).zip(letters).filter(is_counted).count();
            u32::try_from(n_seats).unwrap_or(u32::MAX)
        };
        SeatsLeft { available: count(SeatFace::Available), held: count(SeatFace::Held) }
    }
}
