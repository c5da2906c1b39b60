//! The waiting room in memory: one room per schedule, each behind its own lock. Position reads take
//! no lock.

mod entries;
mod line;
mod lobby;
mod outflow;
pub(crate) mod returned;
mod room;

#[cfg(test)]
mod tests;

use crate::live::memory::queue_blocks;
use crate::live::memory::schedules::Schedules;
use crate::live::waiting_index::WaitingIndex;
use async_trait::async_trait;
use podo_app::waiting_room::port::blocks::QueueBlocks;
use podo_app::waiting_room::port::queue;
use podo_app::waiting_room::port::queue::{
    Admission, Busy, FanPlace, PlaceProof, PositionSnapshot, Remembered, Survey,
};
use podo_app::{Error, Result};
use podo_domain::waiting_room::{Entry, Need, PlaceNumber, QueueCounts, QueuePosition, QueueRules};
use podo_domain::{Refusal, ScheduleId, Timestamp, UserId};
use room::{Epoch, Room};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, RwLock};

/// Attempts of a step that needs something first: the draw, then numbers. Concurrent steps may use
/// up both before it retries.
const GRANTS_MAX: u32 = 16;

pub struct Queue {
    rooms: Schedules<Room>,
    /// The indexes of the same rooms. A writer of both maps holds this lock.
    boards: RwLock<HashMap<ScheduleId, Arc<WaitingIndex>>>,
    blocks: Arc<dyn QueueBlocks>,
    epoch: AtomicU64,
    /// Held by the caller that asks the store; the others then find what they need.
    granting: tokio::sync::Mutex<()>,
    n_granted: AtomicU64,
    /// Whether a caller has asked this engine for its busy rooms.
    is_known: AtomicBool,
}

/// With blocks that live as long as the engine.
impl Default for Queue {
    fn default() -> Queue {
        Queue::new(Arc::new(queue_blocks::QueueBlocks::default()))
    }
}

impl Queue {
    pub fn new(blocks: Arc<dyn QueueBlocks>) -> Queue {
        Queue {
            rooms: Schedules::default(),
            boards: RwLock::default(),
            blocks,
            epoch: AtomicU64::default(),
            granting: tokio::sync::Mutex::default(),
            n_granted: AtomicU64::default(),
            is_known: AtomicBool::default(),
        }
    }

    /// A copy of all rooms in another engine. Tests and the simulation continue with an old copy,
    /// which is an engine that lost its last writes.
    pub fn copy(&self) -> Result<Queue> {
        let rooms = self.rooms.copy()?;
        let mut boards = HashMap::new();
        for schedule in self.boards.read().map_err(Error::broken)?.keys() {
            if let Some(waiting_index) = rooms.with_known(*schedule, |room| room.waiting_index())? {
                boards.insert(*schedule, waiting_index);
            }
        }
        let copy = Queue::new(self.blocks.clone());
        copy.epoch.store(self.epoch(), Ordering::Release);
        Ok(Queue { rooms, boards: RwLock::new(boards), ..copy })
    }

    /// Starts a new epoch: from now on, rooms may miss writes that they acknowledged.
    pub fn begin_epoch(&self) {
        self.epoch.fetch_add(1, Ordering::AcqRel);
    }

    fn epoch(&self) -> Epoch {
        self.epoch.load(Ordering::Acquire)
    }

    /// Reads a room, open or not.
    fn look<T>(
        &self,
        schedule: ScheduleId,
        step: impl FnOnce(&mut Room) -> T,
    ) -> Result<Option<T>> {
        self.rooms.with_known(schedule, |room| {
            room.is_open_in(self.epoch());
            step(room)
        })
    }

    /// Runs a step in an open room, and gets from the store what the step needs.
    async fn step<T>(
        &self,
        rules: &QueueRules,
        now: Timestamp,
        mut step: impl FnMut(&mut Room) -> std::result::Result<T, Need> + Send,
    ) -> Result<Option<T>> {
        for _ in 0..GRANTS_MAX {
            let (epoch, n_granted) = (self.epoch(), self.n_granted.load(Ordering::Acquire));
            let taken = self
                .rooms
                .with_known(rules.schedule, |room| room.is_open_in(epoch).then(|| step(room)))?;
            match taken.flatten() {
                None => return Ok(None),
                Some(Ok(answer)) => return Ok(Some(answer)),
                Some(Err(need)) => self.grant(rules, need, epoch, n_granted, now).await?,
            }
        }
        Err(Error::unavailable("concurrent steps used up every granted block"))
    }

    /// Gets a block for the room, unless another caller has got one since `n_seen`.
    async fn grant(
        &self,
        rules: &QueueRules,
        need: Need,
        epoch: Epoch,
        n_seen: u64,
        now: Timestamp,
    ) -> Result<()> {
        let _turn = self.granting.lock().await;
        if self.n_granted.load(Ordering::Acquire) != n_seen {
            return Ok(());
        }
        let grant = self.blocks.grant(rules.schedule, need, now).await?;
        // A block is valid for one epoch of the engine.
        self.rooms.with_known(rules.schedule, |room| {
            if epoch == self.epoch() && room.is_open_in(epoch) {
                room.take(grant, &rules.draw_seed);
            }
        })?;
        self.n_granted.fetch_add(1, Ordering::AcqRel);
        Ok(())
    }
}

#[async_trait]
impl queue::Queue for Queue {
    async fn enter(
        &self,
        rules: &QueueRules,
        fan: UserId,
        place_proof: Option<PlaceProof>,
        now: Timestamp,
    ) -> Result<Option<QueuePosition>> {
        let entered =
            self.step(rules, now, |room| room.enter(rules, fan, place_proof, now)).await?;
        Ok(entered.transpose()?)
    }

    async fn come_back(
        &self,
        rules: &QueueRules,
        fan: UserId,
        proof: PlaceProof,
        now: Timestamp,
    ) -> Result<Option<QueuePosition>> {
        self.step(rules, now, |room| room.come_back(rules, fan, proof, now)).await
    }

    async fn position(
        &self,
        rules: &QueueRules,
        fan: UserId,
        _proof: Option<PlaceProof>,
        now: Timestamp,
    ) -> Result<PositionSnapshot> {
        let position = self.step(rules, now, |room| room.position(rules, fan, now)).await?;
        Ok(PositionSnapshot { position: position.unwrap_or(QueuePosition::Absent), is_live: true })
    }

    /// A number belongs to one fan for ever, and this isn't a copy, so the proof alone identifies
    /// the fan.
    fn cached_position(
        &self,
        schedule: ScheduleId,
        FanPlace { number, .. }: FanPlace,
        _now: Timestamp,
    ) -> Option<QueuePosition> {
        self.boards.read().ok()?.get(&schedule)?.position(number)
    }

    async fn leave(&self, schedule: ScheduleId, fan: UserId, now: Timestamp) -> Result<()> {
        self.look(schedule, |room| room.leave(fan, now))?;
        Ok(())
    }

    async fn end_entry(
        &self,
        schedule: ScheduleId,
        fan: UserId,
        number: PlaceNumber,
        now: Timestamp,
    ) -> Result<()> {
        self.look(schedule, |room| room.end_entry(fan, number, now))?;
        Ok(())
    }

    async fn entry(
        &self,
        schedule: ScheduleId,
        fan: UserId,
        now: Timestamp,
    ) -> Result<Option<Entry>> {
        Ok(self.look(schedule, |room| room.entry(fan, now))?.flatten())
    }

    async fn extend(&self, rules: &QueueRules, fan: UserId, now: Timestamp) -> Result<Entry> {
        let entry = self.step(rules, now, |room| room.extend(rules, fan, now)).await?;
        Ok(entry.unwrap_or(Err(Refusal::EntryExpired))?)
    }

    async fn admit(&self, rules: &QueueRules, now: Timestamp) -> Result<Option<Vec<Admission>>> {
        self.step(rules, now, |room| room.admit(rules, now)).await
    }

    async fn survey(&self, schedule: ScheduleId, now: Timestamp) -> Result<Survey> {
        let epoch = self.epoch().to_string();
        let survivors = self.look(schedule, |room| room.survivors(now))?;
        Ok(Survey { epoch, survivors })
    }

    async fn restore(
        &self,
        rules: &QueueRules,
        remembered: &Remembered,
        now: Timestamp,
    ) -> Result<()> {
        let blocks = self.blocks.blocks(rules.schedule, now).await?;
        if remembered.epoch.as_ref().is_some_and(|epoch| *epoch != self.epoch().to_string()) {
            return Err(Error::unavailable(
                "the waiting room lost writes while it was being opened",
            ));
        }
        let mut boards = self.boards.write().map_err(Error::broken)?;
        let waiting_index = self.rooms.with(
            rules.schedule,
            || Room::new(blocks.numbers_to, now),
            |room| {
                room.restore(rules, &blocks, remembered, self.epoch(), now);
                room.waiting_index()
            },
        )?;
        boards.insert(rules.schedule, waiting_index);
        Ok(())
    }

    async fn counts(&self, schedule: ScheduleId, now: Timestamp) -> Result<QueueCounts> {
        Ok(self.look(schedule, |room| room.counts(now))?.unwrap_or_default())
    }

    async fn busy(&self, _now: Timestamp) -> Result<Busy> {
        let is_new = !self.is_known.swap(true, Ordering::AcqRel);
        Ok(Busy { rooms: self.rooms.filter(Room::is_busy)?, is_new })
    }

    async fn remove(&self, schedule: ScheduleId) -> Result<()> {
        let mut boards = self.boards.write().map_err(Error::broken)?;
        boards.remove(&schedule);
        self.rooms.remove(schedule)
    }
}
