//! One value per schedule, each behind its own lock, so that two sales never wait for each other.

use app::Result;
use app::error::Error;
use domain::ScheduleId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, RwLock};

pub(super) struct Schedules<T> {
    map: RwLock<HashMap<ScheduleId, Arc<Mutex<T>>>>,
}

impl<T> Default for Schedules<T> {
    fn default() -> Schedules<T> {
        Schedules { map: RwLock::default() }
    }
}

impl<T: Clone> Schedules<T> {
    /// The same values behind locks of their own.
    pub(super) fn copy(&self) -> Result<Schedules<T>> {
        let mut copy = HashMap::new();
        for (schedule, value) in &*self.map.read().map_err(Error::broken)? {
            let value = value.lock().map_err(Error::broken)?.clone();
            copy.insert(*schedule, Arc::new(Mutex::new(value)));
        }
        Ok(Schedules { map: RwLock::new(copy) })
    }
}

impl<T> Schedules<T> {
    /// Runs `step` on the schedule's value, made by `first` when there is none. A step that
    /// panicked leaves a value that nobody can trust: from then on it answers `Broken`.
    pub(super) fn with<R>(
        &self,
        schedule: ScheduleId,
        first: impl FnOnce() -> T,
        step: impl FnOnce(&mut T) -> R,
    ) -> Result<R> {
        let value = match self.find(schedule)? {
            Some(value) => value,
            None => self.add(schedule, first)?,
        };
        let mut value = value.lock().map_err(Error::broken)?;
        Ok(step(&mut value))
    }

    /// Runs `step` if the schedule is known; asking about others leaves nothing behind.
    pub(super) fn with_known<R>(
        &self,
        schedule: ScheduleId,
        step: impl FnOnce(&mut T) -> R,
    ) -> Result<Option<R>> {
        let Some(value) = self.find(schedule)? else { return Ok(None) };
        let mut value = value.lock().map_err(Error::broken)?;
        Ok(Some(step(&mut value)))
    }

    pub(super) fn remove(&self, schedule: ScheduleId) -> Result<()> {
        self.map.write().map_err(Error::broken)?.remove(&schedule);
        Ok(())
    }

    fn find(&self, schedule: ScheduleId) -> Result<Option<Arc<Mutex<T>>>> {
        Ok(self.map.read().map_err(Error::broken)?.get(&schedule).cloned())
    }

    fn add(&self, schedule: ScheduleId, first: impl FnOnce() -> T) -> Result<Arc<Mutex<T>>> {
        let mut map = self.map.write().map_err(Error::broken)?;
        let value = map.entry(schedule).or_insert_with(|| Arc::new(Mutex::new(first())));
        Ok(Arc::clone(value))
    }
}
