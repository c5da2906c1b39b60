//! The status of every seat as one small answer, refreshed a few times a second and shared by all
//! requests.

mod board;
mod snapshot;

use crate::cache::Cache;
use crate::context::AppContext;
use crate::error::Result;
use podo_domain::id::SeatIndex;
use podo_domain::{ScheduleId, Timestamp};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::time::Duration;

pub use board::Board;
pub use snapshot::{Choices, Delta, Snapshot};

/// A snapshot checked this recently is fresh.
const FRESH_FOR: Duration = Duration::from_millis(100);

/// After this long all seats are read even without an announced change, because the announcing node
/// may have crashed.
const READ_AFTER: Duration = Duration::from_secs(2);

const SCHEDULES_MAX: usize = 1_000;

/// Above this many changed seats, all seats are read.
const SEATS_ASKED_MAX: usize = 2_000;

pub struct SeatMaps(Cache<ScheduleId, Arc<Slot>>);

impl Default for SeatMaps {
    fn default() -> SeatMaps {
        SeatMaps(Cache::of(SCHEDULES_MAX))
    }
}

/// The cache of one schedule. The first caller to find it stale refreshes it while the others use
/// the old snapshot; only the very first callers wait.
#[derive(Default)]
struct Slot {
    current: RwLock<Option<Arc<Snapshot>>>,
    checked_at_ms: AtomicI64,
    invalidate: Mutex<Stale>,
    refresher: tokio::sync::Mutex<Option<Refresher>>,
}

/// Seats that a message invalidated; they are read again, whatever the live engine says.
#[derive(Default)]
struct Stale {
    seats: Vec<SeatIndex>,
    is_of_all: bool,
}

/// State that only the refreshing caller needs.
struct Refresher {
    board: Board,
    read_at: Timestamp,
    /// The version of the seats before they were read, if the live engine answered.
    seats_version: Option<u64>,
}

impl SeatMaps {
    pub async fn snapshot(
        &self,
        context: &AppContext,
        schedule: ScheduleId,
    ) -> Result<Arc<Snapshot>> {
        let now = context.now();
        // This also checks that fans may see this schedule.
        context.catalog.schedules.get(&*context.store, schedule, now).await?;
        let slot = self.0.get_or_default(&schedule);
        let known = slot.current();
        if let Some(known) = &known
            && slot.is_fresh(now)
        {
            return Ok(known.clone());
        }
        let refresher = match known {
            None => slot.refresher.lock().await,
            Some(known) => match slot.refresher.try_lock() {
                Ok(refresher) => refresher,
                Err(_busy) => return Ok(known),
            },
        };
        slot.renew(context, schedule, refresher, now.minus(FRESH_FOR)).await
    }

    /// A snapshot that includes everything sold before this call, for decisions that a slightly
    /// stale map would get wrong. Concurrent callers share one read.
    pub async fn snapshot_now(
        &self,
        context: &AppContext,
        schedule: ScheduleId,
    ) -> Result<Arc<Snapshot>> {
        let asked_at = context.now();
        context.catalog.schedules.get(&*context.store, schedule, asked_at).await?;
        let slot = self.0.get_or_default(&schedule);
        let refresher = slot.refresher.lock().await;
        slot.renew(context, schedule, refresher, asked_at).await
    }

    /// The cached snapshot of any age, without I/O.
    pub fn known(&self, schedule: ScheduleId) -> Option<Arc<Snapshot>> {
        self.0.get(&schedule)?.current()
    }

    /// Whether this node caches a map of the schedule.
    pub fn has(&self, schedule: ScheduleId) -> bool {
        self.0.contains(&schedule)
    }

    /// Marks these seats as stale, or all of them for `None`; the next refresh reads them from the
    /// store.
    pub fn invalidate(&self, schedule: ScheduleId, seats: Option<Vec<SeatIndex>>) {
        let Some(slot) = self.0.get(&schedule) else { return };
        let mut invalidate = slot.invalidate.lock().expect("the lock is never poisoned");
        match seats.filter(|seats| invalidate.seats.len() + seats.len() <= SEATS_ASKED_MAX) {
            Some(seats) => invalidate.seats.extend(seats),
            None => *invalidate = Stale { seats: Vec::new(), is_of_all: true },
        }
    }
}

impl Slot {
    fn current(&self) -> Option<Arc<Snapshot>> {
        self.current.read().expect("the lock is never poisoned").clone()
    }

    fn is_fresh(&self, now: Timestamp) -> bool {
        self.was_checked_after(now.minus(FRESH_FOR))
    }

    fn was_checked_after(&self, moment: Timestamp) -> bool {
        moment.ms() < self.checked_at_ms.load(Ordering::Acquire)
    }

    /// Refreshes the snapshot, unless another caller started to do so after `moment`.
    async fn renew(
        &self,
        context: &AppContext,
        schedule: ScheduleId,
        mut refresher: tokio::sync::MutexGuard<'_, Option<Refresher>>,
        moment: Timestamp,
    ) -> Result<Arc<Snapshot>> {
        let now = context.now();
        if let Some(known) = self.current().filter(|_| self.was_checked_after(moment)) {
            return Ok(known);
        }
        let next = match refresher.as_mut() {
            Some(refresher) => {
                let invalidate = std::mem::take(
                    &mut *self.invalidate.lock().expect("the lock is never poisoned"),
                );
                catch_up(context, schedule, refresher, invalidate).await?
            }
            None => {
                let (first, snapshot) = begin(context, schedule).await?;
                *refresher = Some(first);
                snapshot
            }
        };
        *self.current.write().expect("the lock is never poisoned") = Some(next.clone());
        self.checked_at_ms.store(now.ms(), Ordering::Release);
        Ok(next)
    }
}

/// Reads everything for the first time.
async fn begin(context: &AppContext, schedule: ScheduleId) -> Result<(Refresher, Arc<Snapshot>)> {
    let hall = context.catalog.layouts.get(&*context.store, schedule).await?;
    // Without a version every refresh reads all seats: the map is correct, only more expensive.
    let seats_version = context.booking.seat_versions.version(schedule).await.ok();
    let claimed = context.store.claimed_seats(schedule).await?;
    let now = context.now();
    let mut board = Board::new(hall, context.node);
    let snapshot = board.set_all(&claimed, now);
    Ok((Refresher { board, read_at: now, seats_version }, snapshot))
}

async fn catch_up(
    context: &AppContext,
    schedule: ScheduleId,
    refresher: &mut Refresher,
    invalidate: Stale,
) -> Result<Arc<Snapshot>> {
    let now = context.now();
    let since = match refresher.seats_version {
        Some(version) => context.booking.seat_versions.since(schedule, version).await.ok(),
        None => None,
    };
    let is_recent = now < refresher.read_at.plus(READ_AFTER);
    if let Some(since) = since.filter(|_| is_recent && !invalidate.is_of_all)
        && let Some(mut seats) = since.seats.filter(|seats| seats.len() <= SEATS_ASKED_MAX)
    {
        seats.extend(invalidate.seats);
        refresher.seats_version = Some(since.version);
        if seats.is_empty() {
            return Ok(refresher.board.tidy(now));
        }
        seats.sort_unstable();
        seats.dedup();
        let found = context.store.seats_at(schedule, seats).await;
        // The engine reports a change only once, so after a failure everything is read.
        refresher.seats_version = refresher.seats_version.filter(|_| found.is_ok());
        return Ok(refresher.board.set(&found?, context.now()));
    }
    refresher.seats_version = context.booking.seat_versions.version(schedule).await.ok();
    let claimed = context.store.claimed_seats(schedule).await?;
    refresher.read_at = now;
    Ok(refresher.board.set_all(&claimed, context.now()))
}
