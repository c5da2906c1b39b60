//! The cache of schedules: every poll needs one, and they rarely change.

use crate::catalog::port::ScheduleRecord;
use crate::error::Result;
use crate::single_flight::SingleFlight;
use crate::store::Store;
use podo_domain::catalog::EventStatus;
use podo_domain::waiting_room::QueueRules;
use podo_domain::{Refusal, ScheduleId, Timestamp};
use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, RwLock};
use std::time::Duration;

/// Age from which a caller refreshes an entry.
const FRESH_FOR: Duration = Duration::from_secs(1);

/// Most schedules cached; unknown ids are never cached, so requests can't fill it with garbage.
const KEPT_MAX: usize = 10_000;

struct CacheEntry {
    record: Arc<ScheduleRecord>,
    loaded_at: Timestamp,
    /// A caller is refreshing the entry; the others use it as it is.
    is_renewing: AtomicBool,
}

impl CacheEntry {
    fn is_fresh(&self, now: Timestamp) -> bool {
        now < self.loaded_at.plus(FRESH_FOR)
    }
}

#[derive(Default)]
pub struct Schedules {
    cached: RwLock<HashMap<ScheduleId, Arc<CacheEntry>>>,
}

impl Schedules {
    /// The schedule of a visible event. One caller refreshes a stale entry while the others use it,
    /// so a busy queue reads the store about once a second.
    pub async fn get(
        &self,
        store: &dyn Store,
        schedule: ScheduleId,
        now: Timestamp,
    ) -> Result<Arc<ScheduleRecord>> {
        let cached = self.find(schedule);
        if let Some(cached) = cached {
            if cached.is_fresh(now) {
                return Ok(cached.record.clone());
            }
            let Some(_flight) = SingleFlight::take(&cached.is_renewing) else {
                return Ok(cached.record.clone());
            };
            return self.renew(store, schedule, now).await;
        }
        self.renew(store, schedule, now).await
    }

    /// The cached schedule if it's fresh, without I/O.
    pub fn cached(&self, schedule: ScheduleId, now: Timestamp) -> Option<Arc<ScheduleRecord>> {
        let cached = self.cached.read().expect("the lock is never poisoned");
        cached
            .get(&schedule)
            .filter(|cached| cached.is_fresh(now))
            .map(|cached| cached.record.clone())
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

    fn find(&self, schedule: ScheduleId) -> Option<Arc<CacheEntry>> {
        self.cached.read().expect("the lock is never poisoned").get(&schedule).cloned()
    }

    fn keep(&self, record: Arc<ScheduleRecord>, now: Timestamp) -> Arc<ScheduleRecord> {
        let cached = Arc::new(CacheEntry {
            record: record.clone(),
            loaded_at: now,
            is_renewing: AtomicBool::new(false),
        });
        let mut all = self.cached.write().expect("the lock is never poisoned");
        if all.len() >= KEPT_MAX {
            all.clear();
        }
        all.insert(record.schedule, cached);
        record
    }

    /// Something changed in an unknown schedule: all entries are dropped.
    pub fn forget_all(&self) {
        self.cached.write().expect("the lock is never poisoned").clear();
    }

    /// An organiser changed this schedule: its entry is dropped.
    pub fn forget(&self, schedule: ScheduleId) {
        self.cached.write().expect("the lock is never poisoned").remove(&schedule);
    }
}

/// An event in preparation looks like a missing one.
fn is_visible(record: &ScheduleRecord) -> bool {
    match record.event_status {
        EventStatus::Preparing => false,
        EventStatus::Open | EventStatus::Ended | EventStatus::Cancelled => true,
    }
}

/// What the queue needs to know about a schedule.
pub fn queue_rules(record: &ScheduleRecord) -> QueueRules {
    QueueRules {
        schedule: record.schedule,
        settings: record.queue.clone(),
        opens_at: record.times.sale_starts_at,
        draw_seed: record.draw_seed,
    }
}
