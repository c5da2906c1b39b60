//! The status of every seat as one small answer, brought up to date a few times a second and
//! shared by all who ask.

mod board;
mod snapshot;

use crate::error::Result;
use crate::platform::Platform;
use domain::id::SeatIndex;
use domain::{ScheduleId, Timestamp};
use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::time::Duration;

pub use board::Board;
pub use snapshot::{Choices, Delta, Snapshot};

/// A snapshot that was checked this short ago is good.
const FRESH_FOR: Duration = Duration::from_millis(100);

/// After this long all seats are read even when nobody told of a change: the one who should have
/// may have died.
const READ_AFTER: Duration = Duration::from_secs(2);

/// Schedules kept; all knowledge is dropped when somebody walks through more.
const KEPT_MAX: usize = 1_000;

/// More changed seats than this are not asked for one by one.
const SEATS_ASKED_MAX: usize = 2_000;

#[derive(Default)]
pub struct SeatMaps {
    slots: RwLock<HashMap<ScheduleId, Arc<Slot>>>,
}

/// What is kept of one schedule. Whoever finds it old brings it up to date while the others go on
/// with what is there; only the very first ones wait.
#[derive(Default)]
struct Slot {
    current: RwLock<Option<Arc<Snapshot>>>,
    checked_at_ms: AtomicI64,
    doubt: Mutex<Doubt>,
    work: tokio::sync::Mutex<Option<Work>>,
}

/// Seats that a message told of: they are looked at again, whatever the live engine says.
#[derive(Default)]
struct Doubt {
    seats: Vec<SeatIndex>,
    is_of_all: bool,
}

/// What only the one who brings it up to date needs.
struct Work {
    board: Board,
    read_at: Timestamp,
    /// The version of the seats before they were read, if the live engine told it.
    seats_version: Option<u64>,
}

impl SeatMaps {
    pub async fn snapshot(
        &self,
        platform: &Platform,
        schedule: ScheduleId,
    ) -> Result<Arc<Snapshot>> {
        let now = platform.now();
        // Also the check that fans may see this schedule at all.
        platform.schedules.get(&*platform.store, schedule, now).await?;
        let slot = self.slot(schedule);
        let known = slot.current();
        if let Some(known) = &known
            && slot.is_fresh(now)
        {
            return Ok(known.clone());
        }
        let work = match known {
            None => slot.work.lock().await,
            Some(known) => match slot.work.try_lock() {
                Ok(work) => work,
                Err(_busy) => return Ok(known),
            },
        };
        slot.renew(platform, schedule, work, now.minus(FRESH_FOR)).await
    }

    /// The same with everything that was sold before this call: for a decision that a map which is a
    /// few milliseconds old would get wrong. Callers share one look.
    pub async fn snapshot_now(
        &self,
        platform: &Platform,
        schedule: ScheduleId,
    ) -> Result<Arc<Snapshot>> {
        let asked_at = platform.now();
        platform.schedules.get(&*platform.store, schedule, asked_at).await?;
        let slot = self.slot(schedule);
        let work = slot.work.lock().await;
        slot.renew(platform, schedule, work, asked_at).await
    }

    /// What this node knows without asking anybody, however old it is.
    pub fn known(&self, schedule: ScheduleId) -> Option<Arc<Snapshot>> {
        let slots = self.slots.read().expect("nothing panics under this lock");
        slots.get(&schedule)?.current()
    }

    /// Whether this node keeps a map of the schedule.
    pub fn has(&self, schedule: ScheduleId) -> bool {
        self.slots.read().expect("nothing panics under this lock").contains_key(&schedule)
    }

    /// These seats changed, or nobody knows which: the next look asks the store.
    pub fn doubt(&self, schedule: ScheduleId, seats: Option<Vec<SeatIndex>>) {
        let slots = self.slots.read().expect("nothing panics under this lock");
        let Some(slot) = slots.get(&schedule) else { return };
        let mut doubt = slot.doubt.lock().expect("nothing panics under this lock");
        match seats.filter(|seats| doubt.seats.len() + seats.len() <= SEATS_ASKED_MAX) {
            Some(seats) => doubt.seats.extend(seats),
            None => *doubt = Doubt { seats: Vec::new(), is_of_all: true },
        }
    }

    fn slot(&self, schedule: ScheduleId) -> Arc<Slot> {
        let slots = self.slots.read().expect("nothing panics under this lock");
        if let Some(slot) = slots.get(&schedule) {
            return slot.clone();
        }
        drop(slots);
        let mut slots = self.slots.write().expect("nothing panics under this lock");
        if slots.len() >= KEPT_MAX {
            slots.clear();
        }
        slots.entry(schedule).or_default().clone()
    }
}

impl Slot {
    fn current(&self) -> Option<Arc<Snapshot>> {
        self.current.read().expect("nothing panics under this lock").clone()
    }

    fn is_fresh(&self, now: Timestamp) -> bool {
        self.was_checked_after(now.minus(FRESH_FOR))
    }

    fn was_checked_after(&self, moment: Timestamp) -> bool {
        moment.ms() < self.checked_at_ms.load(Ordering::Acquire)
    }

    /// Brings it up to date, unless somebody began to do so after `moment`.
    async fn renew(
        &self,
        platform: &Platform,
        schedule: ScheduleId,
        mut work: tokio::sync::MutexGuard<'_, Option<Work>>,
        moment: Timestamp,
    ) -> Result<Arc<Snapshot>> {
        let now = platform.now();
        if let Some(known) = self.current().filter(|_| self.was_checked_after(moment)) {
            return Ok(known);
        }
        let next = match work.as_mut() {
            Some(work) => {
                let doubt = std::mem::take(
                    &mut *self.doubt.lock().expect("nothing panics under this lock"),
                );
                catch_up(platform, schedule, work, doubt).await?
            }
            None => {
                let (first, snapshot) = begin(platform, schedule).await?;
                *work = Some(first);
                snapshot
            }
        };
        *self.current.write().expect("nothing panics under this lock") = Some(next.clone());
        self.checked_at_ms.store(now.ms(), Ordering::Release);
        Ok(next)
    }
}

/// Reads everything for the first time.
async fn begin(platform: &Platform, schedule: ScheduleId) -> Result<(Work, Arc<Snapshot>)> {
    let hall = platform.layouts.get(&*platform.store, schedule).await?;
    // Without an answer the store is asked each time: the seat map is right, only dearer.
    let seats_version = platform.seat_versions.version(schedule).await.ok();
    let claimed = platform.store.claimed_seats(schedule).await?;
    let now = platform.now();
    let mut board = Board::new(hall, platform.node);
    let snapshot = board.set_all(&claimed, now);
    Ok((Work { board, read_at: now, seats_version }, snapshot))
}

async fn catch_up(
    platform: &Platform,
    schedule: ScheduleId,
    work: &mut Work,
    doubt: Doubt,
) -> Result<Arc<Snapshot>> {
    let now = platform.now();
    let since = match work.seats_version {
        Some(version) => platform.seat_versions.since(schedule, version).await.ok(),
        None => None,
    };
    let is_recent = now < work.read_at.plus(READ_AFTER);
    if let Some(since) = since.filter(|_| is_recent && !doubt.is_of_all)
        && let Some(mut seats) = since.seats.filter(|seats| seats.len() <= SEATS_ASKED_MAX)
    {
        seats.extend(doubt.seats);
        work.seats_version = Some(since.version);
        if seats.is_empty() {
            return Ok(work.board.tidy(now));
        }
        seats.sort_unstable();
        seats.dedup();
        let found = platform.store.seats_at(schedule, seats).await;
        // What was told is not told again: after a failure everything is read.
        work.seats_version = work.seats_version.filter(|_| found.is_ok());
        return Ok(work.board.set(&found?, platform.now()));
    }
    work.seats_version = platform.seat_versions.version(schedule).await.ok();
    let claimed = platform.store.claimed_seats(schedule).await?;
    work.read_at = now;
    Ok(work.board.set_all(&claimed, platform.now()))
}
