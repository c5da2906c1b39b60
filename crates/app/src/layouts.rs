//! Halls of schedules, kept at hand: a layout never changes once its seats exist.

use crate::error::Result;
use crate::ports::Store;
use domain::hall::Hall;
use domain::{Refusal, ScheduleId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

/// Most seats kept, about 16 bytes each; whoever walks through more starts anew.
const SEATS_KEPT_MAX: usize = 4_000_000;

/// One layout that is read once, however many ask for it at the same moment.
type Slot = Arc<tokio::sync::OnceCell<Arc<Hall>>>;

#[derive(Default)]
pub struct Layouts {
    kept: Mutex<HashMap<ScheduleId, Slot>>,
}

impl Layouts {
    pub async fn get(&self, store: &dyn Store, schedule: ScheduleId) -> Result<Arc<Hall>> {
        let slot = self.lock().entry(schedule).or_default().clone();
        let read = slot.get_or_try_init(async || {
            let template = store.template_of(schedule).await?.ok_or(Refusal::NotFound)?;
            Ok::<_, crate::Error>(Arc::new(Hall::of(&template.plan()?)))
        });
        let hall = match read.await {
            Ok(hall) => hall.clone(),
            Err(error) => {
                // Nothing is kept for an id that means nothing.
                self.lock().remove(&schedule);
                return Err(error);
            }
        };
        self.make_room(schedule, &slot);
        Ok(hall)
    }

    fn make_room(&self, newest: ScheduleId, slot: &Slot) {
        let mut kept = self.lock();
        let n_seats: usize =
            kept.values().filter_map(|slot| slot.get()).map(|hall| hall.places.len()).sum();
        if n_seats > SEATS_KEPT_MAX {
            kept.clear();
            kept.insert(newest, slot.clone());
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ScheduleId, Slot>> {
        self.kept.lock().expect("nothing panics under this lock")
    }
}
