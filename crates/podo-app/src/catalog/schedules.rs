//! The cache of schedules: every poll needs one, and they rarely change.

use crate::cache::{Cache, SingleFlight};
use crate::catalog::port::ScheduleRecord;
use crate::error::Result;
use crate::store::Store;
use podo_domain::catalog::EventStatus;
use podo_domain::waiting_room::QueueRules;
use podo_domain::{Refusal, ScheduleId, Timestamp};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Age from which a caller refreshes an entry.
const FRESH_FOR: Duration = Duration::from_secs(1);

/// Most schedules cached; unknown ids are never cached, so requests can't fill it with garbage.
const SCHEDULES_MAX: usize = 10_000;

struct CacheEntry {
    record: Arc<ScheduleRecord>,
    /// Its waiting rooms, if it has phases.
    rooms: Vec<Arc<ScheduleRecord>>,
    loaded_at: Timestamp,
    /// A caller is refreshing the entry; the others use it as it is.
    is_renewing: AtomicBool,
}

impl CacheEntry {
    fn is_fresh(&self, now: Timestamp) -> bool {
        now < self.loaded_at.plus(FRESH_FOR)
    }

    /// The record of a waiting room, by the room's id.
    fn room(&self, room: ScheduleId) -> Option<Arc<ScheduleRecord>> {
        let rooms =
            if self.rooms.is_empty() { std::slice::from_ref(&self.record) } else { &self.rooms };
        rooms.iter().find(|record| record.schedule == room).cloned()
    }
}

pub struct Schedules(Cache<ScheduleId, Arc<CacheEntry>>);

impl Default for Schedules {
    fn default() -> Schedules {
        Schedules(Cache::of(SCHEDULES_MAX))
    }
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
        Ok(self.entry(store, schedule, now).await?.record.clone())
    }

    /// A waiting room of a visible event: of a date without phases, or of one phase. `None` if the
    /// date has no such room, or no longer.
    pub async fn room(
        &self,
        store: &dyn Store,
        room: ScheduleId,
        now: Timestamp,
    ) -> Result<Option<Arc<ScheduleRecord>>> {
        Ok(self.entry(store, room.date(), now).await?.room(room))
    }

    async fn entry(
        &self,
        store: &dyn Store,
        schedule: ScheduleId,
        now: Timestamp,
    ) -> Result<Arc<CacheEntry>> {
        if let Some(cached) = self.0.get(&schedule) {
            if cached.is_fresh(now) {
                return Ok(cached);
            }
            let Some(_flight) = SingleFlight::take(&cached.is_renewing) else {
                return Ok(cached.clone());
            };
            return self.renew(store, schedule, now).await;
        }
        self.renew(store, schedule, now).await
    }

    /// The cached waiting room if it's fresh, without I/O.
    pub fn cached_room(&self, room: ScheduleId, now: Timestamp) -> Option<Arc<ScheduleRecord>> {
        let cached = self.0.get(&room.date()).filter(|cached| cached.is_fresh(now))?;
        cached.room(room)
    }

    async fn renew(
        &self,
        store: &dyn Store,
        schedule: ScheduleId,
        now: Timestamp,
    ) -> Result<Arc<CacheEntry>> {
        match store.schedule(schedule).await?.filter(is_visible) {
            Some(record) => Ok(self.keep(record, now)),
            None => {
                self.forget(schedule);
                Err(Refusal::NotFound.into())
            }
        }
    }

    fn keep(&self, record: ScheduleRecord, now: Timestamp) -> Arc<CacheEntry> {
        let schedule = record.schedule;
        let rooms = match record.phases.is_empty() {
            true => Vec::new(),
            false => record.rooms().into_iter().map(Arc::new).collect(),
        };
        let cached = Arc::new(CacheEntry {
            record: Arc::new(record),
            rooms,
            loaded_at: now,
            is_renewing: AtomicBool::new(false),
        });
        self.0.insert(schedule, cached.clone());
        cached
    }

    /// Something changed in an unknown schedule: all entries are dropped.
    pub fn forget_all(&self) {
        self.0.clear();
    }

    /// An organiser changed this schedule: its entry is dropped.
    pub fn forget(&self, schedule: ScheduleId) {
        self.0.remove(&schedule);
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
