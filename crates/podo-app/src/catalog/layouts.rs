//! The cache of halls: a layout never changes once its seats exist.

use crate::error::Result;
use crate::store::Store;
use podo_domain::catalog::hall::Hall;
use podo_domain::{Refusal, ScheduleId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

/// Most seats cached, about 16 bytes each; when there are more, the cache is cleared.
const SEATS_KEPT_MAX: usize = 4_000_000;

/// One layout, read once for all concurrent callers.
type Slot = Arc<tokio::sync::OnceCell<Arc<Hall>>>;

#[derive(Default)]
pub struct LayoutCache {
    cached: Mutex<HashMap<ScheduleId, Slot>>,
}

impl LayoutCache {
    pub async fn get(&self, store: &dyn Store, schedule: ScheduleId) -> Result<Arc<Hall>> {
        let slot = self.lock().entry(schedule).or_default().clone();
        let read = slot.get_or_try_init(async || {
            let template = store.template_of(schedule).await?.ok_or(Refusal::NotFound)?;
            Ok::<_, crate::Error>(Arc::new(Hall::of(&template.plan()?)))
        });
        let hall = match read.await {
            Ok(hall) => hall.clone(),
            Err(error) => {
                // Unknown ids aren't cached.
                self.lock().remove(&schedule);
                return Err(error);
            }
        };
        self.make_room(schedule, &slot);
        Ok(hall)
    }

    fn make_room(&self, newest: ScheduleId, slot: &Slot) {
        let mut cached = self.lock();
        let n_seats: usize =
            cached.values().filter_map(|slot| slot.get()).map(|hall| hall.places.len()).sum();
        if n_seats > SEATS_KEPT_MAX {
            cached.clear();
            cached.insert(newest, slot.clone());
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ScheduleId, Slot>> {
        self.cached.lock().expect("the lock is never poisoned")
    }
}
