//! This node's replicas, one per waiting room. A caller that finds one stale fetches the changes,
//! while the others use the stale one.

use crate::live::redis::queue::answer::ScriptReply;
use crate::live::redis::queue::replica::{Change, Moment, Replica, RoomFacts, Tag};
use crate::live::redis::queue::steps::Steps;
use podo_app::cache::Cache;
use podo_app::waiting_room::port::queue::{FanPlace, PlaceProof};
use podo_app::{Error, Result};
use podo_domain::waiting_room::{QueuePosition, QueueRules};
use podo_domain::{ScheduleId, Timestamp};
use std::sync::{Arc, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

/// Beyond this age a replica isn't used while a refresh is in flight. It is less than the shortest
/// interval between a fan's polls, so no position grows, whichever node answers.
const OLD_AFTER: Duration = Duration::from_secs(1);

/// The retry interval while the engine doesn't answer.
const ASK_AGAIN_AFTER: Duration = Duration::from_millis(500);

/// Small enough that a slice blocks the server for only 10 ms (28 at most, measured likewise).
const PER_SLICE: usize = 4_000;

/// Changes per call, and calls per refresh: a room that changes faster than it can be copied isn't
/// copied.
pub(crate) const CHANGES_PER_CALL: usize = 10_000;
const CALLS_MAX: u32 = 20;

/// Replicas of rooms that fans still poll are kept; the others are evicted first.
const ROOMS_MAX: usize = 1_000;

pub(crate) struct Replicas {
    fresh_for: Duration,
    rooms: Cache<ScheduleId, Arc<CacheEntry>>,
}

#[derive(Default)]
struct CacheEntry {
    state: RwLock<State>,
    refreshing: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct State {
    replica: Option<Replica>,
    asked_at: Option<Timestamp>,
    is_away: bool,
}

impl State {
    fn age(&self, now: Timestamp) -> Duration {
        let ms = self.asked_at.map_or(u64::MAX, |at| now.ms().abs_diff(at.ms()));
        Duration::from_millis(ms)
    }

    /// Until the order is drawn, a refresh isn't worth waiting for.
    fn is_worth_waiting(&self, now: Timestamp) -> bool {
        let is_old = match &self.replica {
            Some(replica) => replica.facts.is_drawn && OLD_AFTER <= self.age(now),
            None => true,
        };
        is_old && !self.is_away
    }

    fn is_due(&self, fresh_for: Duration, now: Timestamp) -> bool {
        match &self.replica {
            _ if self.is_away => ASK_AGAIN_AFTER <= self.age(now),
            Some(_) => fresh_for <= self.age(now),
            None => true,
        }
    }
}

impl Replicas {
    pub(crate) fn new(fresh_for: Duration) -> Replicas {
        Replicas { fresh_for, rooms: Cache::of(ROOMS_MAX) }
    }

    /// The replica's answer, and whether the engine responds; none if there is no replica.
    pub(crate) async fn ask<T>(
        &self,
        steps: &Steps,
        rules: &QueueRules,
        now: Timestamp,
        question: impl FnOnce(&Replica) -> T,
    ) -> Option<(T, bool)> {
        let room = self.room(rules.schedule);
        self.freshen(steps, rules, &room, now).await;
        let state = room.read();
        state.replica.as_ref().map(|replica| (question(replica), !state.is_away))
    }

    /// The position of a fan's number by a fresh replica, without a call to the engine.
    pub(crate) fn cached_position(
        &self,
        schedule: ScheduleId,
        FanPlace { number, fan }: FanPlace,
        now: Timestamp,
    ) -> Option<QueuePosition> {
        let room = self.room(schedule);
        let state = room.read();
        let is_fresh = !state.is_away && state.age(now) < self.fresh_for;
        let replica = state.replica.as_ref().filter(|_| is_fresh)?;
        replica.position(PlaceProof::Line { number }, fan)
    }

    /// Applies this node's own change at once, so a fan who left here isn't shown as waiting by the
    /// next poll.
    pub(crate) fn apply(&self, schedule: ScheduleId, change: Change) {
        if let Some(replica) = &mut self.room(schedule).write().replica {
            replica.apply(change);
        }
    }

    pub(crate) fn forget(&self, schedule: ScheduleId) {
        self.rooms.remove(&schedule);
    }

    fn room(&self, schedule: ScheduleId) -> Arc<CacheEntry> {
        self.rooms.get_or_default(&schedule)
    }

    async fn freshen(&self, steps: &Steps, rules: &QueueRules, room: &CacheEntry, now: Timestamp) {
        let is_due = || room.read().is_due(self.fresh_for, now);
        if !is_due() {
            return;
        }
        let is_worth_waiting = room.read().is_worth_waiting(now);
        let turn = match room.refreshing.try_lock() {
            Ok(turn) => Some(turn),
            Err(_) if is_worth_waiting => Some(room.refreshing.lock().await),
            Err(_) => None,
        };
        // A caller that waited finds it done.
        if turn.is_some() && is_due() {
            let outcome = refresh(steps, rules, room, now).await;
            room.write().conclude(outcome, now);
        }
    }
}

impl CacheEntry {
    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().expect("the lock is never poisoned")
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().expect("the lock is never poisoned")
    }
}

impl State {
    fn conclude(&mut self, outcome: Result<()>, now: Timestamp) {
        self.asked_at = Some(now);
        match (outcome, self.is_away) {
            (Ok(()), true) => tracing::info!("Waiting room engine recovered"),
            (Err(error), false) => {
                tracing::warn!(%error, "Waiting room engine unavailable; fans keep their places");
                self.is_away = true;
                return;
            }
            (Ok(()), false) => (),
            (Err(_), true) => return,
        }
        self.is_away = false;
    }

    /// Applies changes to the replica; a new copy becomes visible once complete.
    fn take(&mut self, copy: Option<Replica>, news: News, seed: &[u8; 32]) {
        if copy.is_some() {
            self.replica = copy;
        }
        if let Some(replica) = &mut self.replica {
            news.changes.into_iter().for_each(|change| replica.apply(change));
            replica.learn(news.facts, news.seen, seed);
        }
    }
}

/// The changes since a node's last request.
pub(crate) struct News {
    pub(crate) seen: Moment,
    pub(crate) facts: RoomFacts,
    pub(crate) changes: Vec<Change>,
}

/// Refreshes the replica, or creates one.
async fn refresh(
    steps: &Steps,
    rules: &QueueRules,
    room: &CacheEntry,
    now: Timestamp,
) -> Result<()> {
    let mut copy: Option<Replica> = None;
    for _ in 0..CALLS_MAX {
        let seen = match &copy {
            Some(copy) => copy.seen.clone(),
            None => room.read().replica.as_ref().map(|it| it.seen.clone()).unwrap_or_default(),
        };
        let answer = steps.sync(rules, &seen, now).await?;
        match answer.word.as_str() {
            "changes" => {
                let news = answer.news()?;
                let is_all = news.changes.len() < CHANGES_PER_CALL;
                room.write().take(copy.take(), news, &rules.draw_seed);
                if is_all {
                    return Ok(());
                }
            }
            "reload" => copy = Some(copy_room(steps, rules, &answer, room).await?),
            "closed" => {
                room.write().replica = None;
                return Ok(());
            }
            _ => return Err(answer.unexpected()),
        }
    }
    Err(Error::unavailable("the waiting room changes faster than it can be copied"))
}

/// Copies a room while it changes, and then applies the changes made meanwhile.
async fn copy_room(
    steps: &Steps,
    rules: &QueueRules,
    answer: &ScriptReply,
    room: &CacheEntry,
) -> Result<Replica> {
    let News { seen, facts, .. } = answer.news()?;
    let mut copy = Replica::empty(facts, seen);
    if let Some(before) = &room.read().replica {
        copy.take_ranks_of(before);
    }
    let mut after = 0;
    loop {
        let places: Vec<(u64, Tag)> = steps.copy(rules, "line", after, PER_SLICE).await?;
        places.iter().for_each(|(number, tag)| copy.apply(Change::Join(*number, *tag)));
        match places.last() {
            Some((last, _)) if places.len() == PER_SLICE => after = *last,
            Some(_) | None => break,
        }
    }
    if !facts.is_drawn {
        for from in (0..facts.opening.n_lobby).step_by(PER_SLICE) {
            let places: Vec<(u32, Tag)> =
                steps.copy(rules, "lobby", from.into(), PER_SLICE).await?;
            places.into_iter().for_each(|(index, tag)| copy.apply(Change::Gather(index, tag)));
        }
    }
    Ok(copy)
}
