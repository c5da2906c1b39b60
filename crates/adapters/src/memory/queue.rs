//! The waiting room in memory: one room per schedule, each behind its own lock.

mod arrivals;
mod entries;
mod line;
mod lobby;
mod outflow;
mod returned;
mod room;

#[cfg(test)]
mod tests;

use super::schedules::Schedules;
use app::Result;
use app::ports::queue::{self, Admission, Returning};
use async_trait::async_trait;
use domain::queue::{Entry, QueueCounts, QueueRules, Standing};
use domain::{Refusal, ScheduleId, Timestamp, UserId};
use room::Room;

#[derive(Default)]
pub struct Queue {
    rooms: Schedules<Room>,
}

impl Queue {
    fn in_room<R>(
        &self,
        schedule: ScheduleId,
        now: Timestamp,
        step: impl FnOnce(&mut Room) -> R,
    ) -> Result<R> {
        self.rooms.with(schedule, || Room::new(now), step)
    }
}

#[async_trait]
impl queue::Queue for Queue {
    async fn enter(
        &self,
        rules: &QueueRules,
        fan: UserId,
        returning: Option<Returning>,
        now: Timestamp,
    ) -> Result<Standing> {
        let standing =
            self.in_room(rules.schedule, now, |room| room.enter(rules, fan, returning, now))??;
        Ok(standing)
    }

    async fn standing(&self, rules: &QueueRules, fan: UserId, now: Timestamp) -> Result<Standing> {
        let standing =
            self.rooms.with_known(rules.schedule, |room| room.standing(rules, fan, now))?;
        Ok(standing.unwrap_or(Standing::Absent))
    }

    async fn leave(&self, schedule: ScheduleId, fan: UserId, now: Timestamp) -> Result<()> {
        self.rooms.with_known(schedule, |room| room.leave(fan, now))?;
        Ok(())
    }

    async fn entry(
        &self,
        schedule: ScheduleId,
        fan: UserId,
        now: Timestamp,
    ) -> Result<Option<Entry>> {
        Ok(self.rooms.with_known(schedule, |room| room.entry(fan, now))?.flatten())
    }

    async fn extend(&self, rules: &QueueRules, fan: UserId, now: Timestamp) -> Result<Entry> {
        let entry = self.rooms.with_known(rules.schedule, |room| room.extend(rules, fan, now))?;
        Ok(entry.unwrap_or(Err(Refusal::EntryExpired))?)
    }

    async fn admit(&self, rules: &QueueRules, now: Timestamp) -> Result<Vec<Admission>> {
        let admitted = self.rooms.with_known(rules.schedule, |room| room.admit(rules, now))?;
        Ok(admitted.unwrap_or_default())
    }

    async fn restore(
        &self,
        schedule: ScheduleId,
        entries: &[Admission],
        now: Timestamp,
    ) -> Result<()> {
        self.in_room(schedule, now, |room| room.restore(entries, now))
    }

    async fn counts(&self, schedule: ScheduleId, now: Timestamp) -> Result<QueueCounts> {
        Ok(self.rooms.with_known(schedule, |room| room.counts(now))?.unwrap_or_default())
    }

    async fn remove(&self, schedule: ScheduleId) -> Result<()> {
        self.rooms.remove(schedule)
    }
}
