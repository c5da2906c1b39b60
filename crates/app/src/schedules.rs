//! Schedules, kept at hand: every poll needs one, and they hardly ever change.

use crate::error::Result;
use crate::ports::Store;
use crate::ports::catalog::ScheduleRecord;
use crate::turn::Turn;
use domain::catalog::EventStatus;
use domain::queue::QueueRules;
use domain::{Refusal, ScheduleId, Timestamp};
use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, RwLock};
use std::time::Duration;

/// How old a kept record may be before somebody looks again.
const FRESH_FOR: Duration = Duration::from_secs(1);

/// Most schedules kept; unknown ids are never kept, so nobody can fill it with nonsense.
const KEPT_MAX: usize = 10_000;

struct Kept {
    record: Arc<ScheduleRecord>,
    loaded_at: Timestamp,
    /// Somebody is looking again; the others go on with what is there.
    is_renewing: AtomicBool,
}

impl Kept {
    fn is_fresh(&self, now: Timestamp) -> bool {
        now < self.loaded_at.plus(FRESH_FOR)
    }
}

#[derive(Default)]
pub struct Schedules {
    kept: RwLock<HashMap<ScheduleId, Arc<Kept>>>,
}

impl Schedules {
    /// The schedule of an open event. One caller renews an old record while the rest use it, so
    /// a busy queue asks the store about once a second.
    pub async fn get(
        &self,
        store: &dyn Store,
        schedule: ScheduleId,
        now: Timestamp,
    ) -> Result<Arc<ScheduleRecord>> {
        let kept = self.find(schedule);
        if let Some(kept) = kept {
            if kept.is_fresh(now) {
                return Ok(kept.record.clone());
            }
            let Some(_turn) = Turn::take(&kept.is_renewing) else {
                return Ok(kept.record.clone());
            };
            return self.renew(store, schedule, now).await;
        }
        self.renew(store, schedule, now).await
    }

    /// The same at once, if it is fresh.
    pub fn at_hand(&self, schedule: ScheduleId, now: Timestamp) -> Option<Arc<ScheduleRecord>> {
        let kept = self.kept.read().expect("nothing panics under this lock");
        kept.get(&schedule).filter(|kept| kept.is_fresh(now)).map(|kept| kept.record.clone())
    }

    async fn renew(
        &self,
        store: &dyn Store,
        schedule: ScheduleId,
        now: Timestamp,
    ) -> Result<Arc<ScheduleRecord>> {
        match store.schedule(schedule).await?.filter(is_visible) {
            Some(record) => Ok(self.keep(Arc::new(record), now)),
            None => {
                self.forget(schedule);
                Err(Refusal::NotFound.into())
            }
        }
    }

    fn find(&self, schedule: ScheduleId) -> Option<Arc<Kept>> {
        self.kept.read().expect("nothing panics under this lock").get(&schedule).cloned()
    }

    fn keep(&self, record: Arc<ScheduleRecord>, now: Timestamp) -> Arc<ScheduleRecord> {
        let kept = Arc::new(Kept {
            record: record.clone(),
            loaded_at: now,
            is_renewing: AtomicBool::new(false),
        });
        let mut all = self.kept.write().expect("nothing panics under this lock");
        if all.len() >= KEPT_MAX {
            all.clear();
        }
        all.insert(record.schedule, kept);
        record
    }

    /// Something changed, nobody knows for which: the next callers look again.
    pub fn forget_all(&self) {
        self.kept.write().expect("nothing panics under this lock").clear();
    }

    /// An organiser changed it: the next caller looks again.
    pub fn forget(&self, schedule: ScheduleId) {
        self.kept.write().expect("nothing panics under this lock").remove(&schedule);
    }
}

/// An event that is still being prepared looks like none.
fn is_visible(record: &ScheduleRecord) -> bool {
    match record.event_status {
        EventStatus::Preparing => false,
        EventStatus::Open | EventStatus::Ended | EventStatus::Cancelled => true,
    }
}

/// What the queue has to know of a schedule.
pub fn queue_rules(record: &ScheduleRecord) -> QueueRules {
    QueueRules {
        schedule: record.schedule,
        settings: record.queue.clone(),
        opens_at: record.times.sale_starts_at,
        draw_seed: record.draw_seed,
    }
}
