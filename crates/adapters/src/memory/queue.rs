//! The waiting room in memory: one room per schedule, each behind its own lock.

pub(crate) mod arrivals;
mod entries;
mod line;
mod lobby;
mod outflow;
pub(crate) mod returned;
mod room;

#[cfg(test)]
mod tests;

use super::schedules::Schedules;
use app::Result;
use app::ports::queue::{self, Admission, Returning, Seen};
use async_trait::async_trait;
use domain::queue::{Entry, QueueCounts, QueueRules, Standing};
use domain::{Refusal, ScheduleId, Timestamp, UserId};
use room::Room;

#[derive(Default)]
pub struct Queue {
    rooms: Schedules<Room>,
}

#[async_trait]
impl queue::Queue for Queue {
    async fn enter(
        &self,
        rules: &QueueRules,
        fan: UserId,
        returning: Option<Returning>,
        now: Timestamp,
    ) -> Result<Option<Standing>> {
        let standing =
            self.rooms.with_known(rules.schedule, |room| room.enter(rules, fan, returning, now))?;
        Ok(standing.transpose()?)
    }

    async fn come_back(
        &self,
        rules: &QueueRules,
        fan: UserId,
        proof: Returning,
        now: Timestamp,
    ) -> Result<Option<Standing>> {
        self.rooms.with_known(rules.schedule, |room| room.come_back(rules, fan, proof, now))
    }

    async fn standing(
        &self,
        rules: &QueueRules,
        fan: UserId,
        _proof: Option<Returning>,
        now: Timestamp,
    ) -> Result<Seen> {
        let standing =
            self.rooms.with_known(rules.schedule, |room| room.standing(rules, fan, now))?;
        Ok(Seen { standing: standing.unwrap_or(Standing::Absent), is_live: true })
    }

    async fn pace(&self, rules: &QueueRules, now: Timestamp) -> Result<f64> {
        Ok(self.counts(rules.schedule, now).await?.admitted_per_second)
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

    async fn admit(&self, rules: &QueueRules, now: Timestamp) -> Result<Option<Vec<Admission>>> {
        self.rooms.with_known(rules.schedule, |room| room.admit(rules, now))
    }

    async fn restore(
        &self,
        schedule: ScheduleId,
        entries: &[Admission],
        now: Timestamp,
    ) -> Result<()> {
        self.rooms.with(schedule, || Room::new(now), |room| room.restore(entries, now))
    }

    async fn counts(&self, schedule: ScheduleId, now: Timestamp) -> Result<QueueCounts> {
        Ok(self.rooms.with_known(schedule, |room| room.counts(now))?.unwrap_or_default())
    }

    async fn remove(&self, schedule: ScheduleId) -> Result<()> {
        self.rooms.remove(schedule)
    }
}
