//! One value per schedule, each behind its own lock, so that two sales never block each other.

use podo_app::Result;
use podo_app::error::Error;
use podo_domain::ScheduleId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, RwLock};

pub(crate) struct Schedules<T> {
    map: RwLock<HashMap<ScheduleId, Arc<Mutex<T>>>>,
}

impl<T> Default for Schedules<T> {
    fn default() -> Schedules<T> {
        Schedules { map: RwLock::default() }
    }
}

impl<T: Clone> Schedules<T> {
    /// A copy of the values behind new locks.
    pub(crate) fn copy(&self) -> Result<Schedules<T>> {
        let mut copy = HashMap::new();
        for (schedule, value) in &*self.map.read().map_err(Error::broken)? {
            let value = value.lock().map_err(Error::broken)?.clone();
            copy.insert(*schedule, Arc::new(Mutex::new(value)));
        }
        Ok(Schedules { map: RwLock::new(copy) })
    }
}

impl<T> Schedules<T> {
    /// Runs `step` on the schedule's value, which `first` creates if it is missing. After a panic
    /// in a step the value can't be trusted, so every later call returns `Broken`.
    pub(crate) fn with<R>(
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

    /// Runs `step` if the schedule is known. Never creates a value.
    pub(crate) fn with_known<R>(
        &self,
        schedule: ScheduleId,
        step: impl FnOnce(&mut T) -> R,
    ) -> Result<Option<R>> {
        let Some(value) = self.find(schedule)? else { return Ok(None) };
        let mut value = value.lock().map_err(Error::broken)?;
        Ok(Some(step(&mut value)))
    }

    /// The schedules whose value meets a condition.
    pub(crate) fn filter(&self, is_meant: impl Fn(&T) -> bool) -> Result<Vec<ScheduleId>> {
        let mut found = Vec::new();
        for (schedule, value) in &*self.map.read().map_err(Error::broken)? {
            if is_meant(&*value.lock().map_err(Error::broken)?) {
                found.push(*schedule);
            }
        }
        // Not in the order of the map: the simulation repeats every step.
        found.sort();
        Ok(found)
    }

    pub(crate) fn remove(&self, schedule: ScheduleId) -> Result<()> {
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
