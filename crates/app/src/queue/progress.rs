//! How a queue moves: the same for everybody, so it is asked once in a while and shared.

use crate::platform::Platform;
use crate::ports::catalog::ScheduleRecord;
use crate::turn::Turn;
use domain::queue::QueueCounts;
use domain::seats::SeatFace;
use domain::{ScheduleId, Timestamp};
use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, RwLock};
use std::time::Duration;

/// How old it may be before somebody asks again.
const FRESH_FOR: Duration = Duration::from_millis(500);

/// What is older than this does not count as known: then somebody has to ask.
const KNOWN_FOR: Duration = Duration::from_secs(1);

/// Schedules kept; unknown ones never get here.
const KEPT_MAX: usize = 10_000;

/// Seats as the map shows them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeatsLeft {
    pub available: u32,
    pub held: u32,
}

#[derive(Clone, Debug, Default)]
pub struct Progress {
    pub counts: QueueCounts,
    /// Not known at first, and while the store does not answer.
    pub seats: Option<SeatsLeft>,
    /// The engine does not answer: this is what was known last.
    pub is_away: bool,
    asked_at: Option<Timestamp>,
}

/// Was it asked less than this long ago?
fn is_within(asked_at: Option<Timestamp>, length: Duration, now: Timestamp) -> bool {
    asked_at.is_some_and(|at| now < at.plus(length))
}

#[derive(Default)]
struct Kept {
    progress: RwLock<Arc<Progress>>,
    is_renewing: AtomicBool,
}

impl Kept {
    fn progress(&self) -> Arc<Progress> {
        self.progress.read().expect("nothing panics under this lock").clone()
    }
}

#[derive(Default)]
pub struct Progresses {
    kept: RwLock<HashMap<ScheduleId, Arc<Kept>>>,
}

impl Progresses {
    /// What is known at once.
    pub fn at_hand(&self, schedule: ScheduleId, now: Timestamp) -> Option<Arc<Progress>> {
        let kept = self.kept.read().expect("nothing panics under this lock");
        let progress = kept.get(&schedule)?.progress();
        is_within(progress.asked_at, KNOWN_FOR, now).then_some(progress)
    }

    /// One caller asks while the rest go on with what is there, which at first is nothing.
    pub async fn get(
        &self,
        platform: &Platform,
        record: &ScheduleRecord,
        now: Timestamp,
    ) -> Arc<Progress> {
        let kept = self.kept(record.schedule);
        let before = kept.progress();
        if is_within(before.asked_at, FRESH_FOR, now) {
            return before;
        }
        let Some(_turn) = Turn::take(&kept.is_renewing) else { return before };
        let progress = Arc::new(renewed(platform, record, &before, now).await);
        *kept.progress.write().expect("nothing panics under this lock") = progress.clone();
        progress
    }

    pub fn forget(&self, schedule: ScheduleId) {
        self.kept.write().expect("nothing panics under this lock").remove(&schedule);
    }

    fn kept(&self, schedule: ScheduleId) -> Arc<Kept> {
        let found =
            self.kept.read().expect("nothing panics under this lock").get(&schedule).cloned();
        found.unwrap_or_else(|| {
            let mut all = self.kept.write().expect("nothing panics under this lock");
            if all.len() >= KEPT_MAX {
                all.clear();
            }
            all.entry(schedule).or_default().clone()
        })
    }
}

async fn renewed(
    platform: &Platform,
    record: &ScheduleRecord,
    before: &Progress,
    now: Timestamp,
) -> Progress {
    let counts = platform.queue.counts(record.schedule, now).await;
    let is_away = counts.is_err();
    let counts = counts.unwrap_or(before.counts);
    // A hint, not a promise: without it the fan is told nothing about chances.
    let map = platform.seat_maps.snapshot(platform, record.schedule).await.ok();
    let seats = map.map(|map| SeatsLeft::on(map.letters()));
    Progress { counts, is_away, seats, asked_at: Some(now) }
}

impl SeatsLeft {
    /// Counts the letters of a seat map.
    fn on(letters: &[u8]) -> SeatsLeft {
        let count = |face: SeatFace| {
            let n_seats = letters.iter().filter(|letter| **letter == face.letter()).count();
            u32::try_from(n_seats).unwrap_or(u32::MAX)
        };
        SeatsLeft { available: count(SeatFace::Available), held: count(SeatFace::Held) }
    }
}
