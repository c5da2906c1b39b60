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

use super::queue_blocks;
use super::schedules::Schedules;
use app::ports::queue::{self, Admission, Remembered, Returning, Seen, Survey};
use app::ports::queue_blocks::QueueBlocks;
use app::{Error, Result};
use async_trait::async_trait;
use board::Board;
use domain::queue::{Entry, Need, PlaceNumber, QueueCounts, QueueRules, Standing};
use domain::{Refusal, ScheduleId, Timestamp, UserId};
use room::{Epoch, Room};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, RwLock};

/// How often a step asks for what it needs: the draw, then numbers, and both may be used up by
/// others before it comes back.
const GRANTS_MAX: u32 = 16;

pub struct Queue {
    rooms: Schedules<Room>,
    /// Of the same rooms; whoever changes both holds this lock.
    boards: RwLock<HashMap<ScheduleId, Arc<Board>>>,
    blocks: Arc<dyn QueueBlocks>,
    epoch: AtomicU64,
    /// Held by the one who asks the store; the others find what they need when it is their turn.
    granting: tokio::sync::Mutex<()>,
    n_granted: AtomicU64,
}

/// With blocks that end with it.
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
        }
    }

    /// All rooms as they are now, in another engine. Tests and the simulation go on with an old
    /// copy: that is an engine which lost its last writes.
    pub fn copy(&self) -> Result<Queue> {
        let rooms = self.rooms.copy()?;
        let mut boards = HashMap::new();
        for schedule in self.boards.read().map_err(Error::broken)?.keys() {
            if let Some(board) = rooms.with_known(*schedule, |room| room.board())? {
                boards.insert(*schedule, board);
            }
        }
        let copy = Queue::new(self.blocks.clone());
        copy.epoch.store(self.epoch(), Ordering::Release);
        Ok(Queue { rooms, boards: RwLock::new(boards), ..copy })
    }

    /// From now on the rooms may be older than what they told.
    pub fn begin_epoch(&self) {
        self.epoch.fetch_add(1, Ordering::AcqRel);
    }

    fn epoch(&self) -> Epoch {
        self.epoch.load(Ordering::Acquire)
    }

    /// Looks into a room, open or not.
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

    /// Takes a step in a room that is open, and gets from the store what the step needs.
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
                Some(Err(need)) => self.grant(rules, need, (epoch, n_granted), now).await?,
            }
        }
        Err(Error::unavailable("others were faster again and again"))
    }

    /// Gets a block for the room, unless somebody got one since the caller looked.
    async fn grant(
        &self,
        rules: &QueueRules,
        need: Need,
        (epoch, n_seen): (Epoch, u64),
        now: Timestamp,
    ) -> Result<()> {
        let _turn = self.granting.lock().await;
        if self.n_granted.load(Ordering::Acquire) != n_seen {
            return Ok(());
        }
        let grant = self.blocks.grant(rules.schedule, need, now).await?;
        // A block is for one life of the engine.
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
        returning: Option<Returning>,
        now: Timestamp,
    ) -> Result<Option<Standing>> {
        let entered = self.step(rules, now, |room| room.enter(rules, fan, returning, now)).await?;
        Ok(entered.transpose()?)
    }

    async fn come_back(
        &self,
        rules: &QueueRules,
        fan: UserId,
        proof: Returning,
        now: Timestamp,
    ) -> Result<Option<Standing>> {
        self.step(rules, now, |room| room.come_back(rules, fan, proof, now)).await
    }

    async fn standing(
        &self,
        rules: &QueueRules,
        fan: UserId,
        _proof: Option<Returning>,
        now: Timestamp,
    ) -> Result<Seen> {
        let standing = self.step(rules, now, |room| room.standing(rules, fan, now)).await?;
        Ok(Seen { standing: standing.unwrap_or(Standing::Absent), is_live: true })
    }

    /// A number is one fan's for ever, and this is no copy: whoever proves the number has it.
    fn standing_now(
        &self,
        schedule: ScheduleId,
        (number, _fan): (PlaceNumber, UserId),
        _now: Timestamp,
    ) -> Option<Standing> {
        self.boards.read().ok()?.get(&schedule)?.standing(number)
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
            return Err(Error::unavailable("the waiting room lost writes while it was opened"));
        }
        let mut boards = self.boards.write().map_err(Error::broken)?;
        let board = self.rooms.with(
            rules.schedule,
            || Room::new(blocks.numbers_to, now),
            |room| {
                room.restore((rules, &blocks), remembered, self.epoch(), now);
                room.board()
            },
        )?;
        boards.insert(rules.schedule, board);
        Ok(())
    }

    async fn counts(&self, schedule: ScheduleId, now: Timestamp) -> Result<QueueCounts> {
        Ok(self.look(schedule, |room| room.counts(now))?.unwrap_or_default())
    }

    async fn remove(&self, schedule: ScheduleId) -> Result<()> {
        let mut boards = self.boards.write().map_err(Error::broken)?;
        boards.remove(&schedule);
        self.rooms.remove(schedule)
    }
}
