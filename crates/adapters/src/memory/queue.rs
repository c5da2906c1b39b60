//! The waiting room in memory: one room per schedule, each behind its own lock. Where a number
//! stands is read without it.

mod board;
mod entries;
mod line;
mod lobby;
mod outflow;
pub(crate) mod returned;
mod room;

#[cfg(test)]
mod tests;

use super::schedules::Schedules;
use app::ports::queue::{self, Admission, Returning, Seen};
use app::{Error, Result};
use async_trait::async_trait;
use board::Board;
use domain::queue::{Entry, PlaceNumber, QueueCounts, QueueRules, Standing};
use domain::{Refusal, ScheduleId, Timestamp, UserId};
use room::Room;
use std::collections::HashMap;
use std::sync::{Arc, RwLock};

#[derive(Default)]
pub struct Queue {
    rooms: Schedules<Room>,
    /// Of the same rooms; whoever changes both holds this lock.
    boards: RwLock<HashMap<ScheduleId, Arc<Board>>>,
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

    fn standing_now(
        &self,
        schedule: ScheduleId,
        number: PlaceNumber,
        _now: Timestamp,
    ) -> Option<Standing> {
        self.boards.read().ok()?.get(&schedule)?.standing(number)
    }

    async fn leave(&self, schedule: ScheduleId, fan: UserId, now: Timestamp) -> Result<()> {
        self.rooms.with_known(schedule, |room| room.leave(fan, now))?;
        Ok(())
    }

    async fn end_entry(
        &self,
        schedule: ScheduleId,
        fan: UserId,
        number: PlaceNumber,
        now: Timestamp,
    ) -> Result<()> {
        self.rooms.with_known(schedule, |room| room.end_entry(fan, number, now))?;
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
        rules: &QueueRules,
        entries: &[Admission],
        now: Timestamp,
    ) -> Result<()> {
        let mut boards = self.boards.write().map_err(Error::broken)?;
        let board = self.rooms.with(
            rules.schedule,
            || Room::new(now),
            |room| {
                room.restore(rules, entries, now);
                room.board()
            },
        )?;
        boards.insert(rules.schedule, board);
        Ok(())
    }

    async fn counts(&self, schedule: ScheduleId, now: Timestamp) -> Result<QueueCounts> {
        Ok(self.rooms.with_known(schedule, |room| room.counts(now))?.unwrap_or_default())
    }

    async fn remove(&self, schedule: ScheduleId) -> Result<()> {
        let mut boards = self.boards.write().map_err(Error::broken)?;
        boards.remove(&schedule);
        self.rooms.remove(schedule)
    }
}
