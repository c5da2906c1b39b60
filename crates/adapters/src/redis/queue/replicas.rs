//! The copies that this node keeps, one per waiting room, and how they stay fresh: whoever finds
//! one old asks for what changed, while the others go on with what is there.

use super::answer::Answer;
use super::replica::{Change, Facts, Moment, Replica, Tag};
use super::steps::Steps;
use app::ports::queue::Returning;
use app::{Error, Result};
use domain::queue::{PlaceNumber, QueueRules, Standing};
use domain::{ScheduleId, Timestamp, UserId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

/// A copy older than this is not answered from while a new one is on its way. It is less than
/// the shortest pause between two polls of a fan: so no position grows, whichever node answers.
const OLD_AFTER: Duration = Duration::from_secs(1);

/// While the engine does not answer it is asked this often.
const ASK_AGAIN_AFTER: Duration = Duration::from_millis(500);

/// Few enough that a slice holds up the server for 10 ms only (28 at most, measured likewise).
const PER_SLICE: usize = 4_000;

/// Changes taken over by one call, and calls of one refresh: a room that changes faster than it
/// can be copied is not copied.
pub(super) const CHANGES_PER_CALL: usize = 10_000;
const CALLS_MAX: u32 = 20;

/// Rooms kept; those that nobody asks about are dropped when somebody walks through more.
const KEPT_MAX: usize = 1_000;

pub(super) struct Replicas {
    fresh_for: Duration,
    rooms: Mutex<HashMap<ScheduleId, Arc<Kept>>>,
}

#[derive(Default)]
struct Kept {
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

    /// Until the order is drawn there is nothing to learn that is worth waiting for.
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
    pub(super) fn new(fresh_for: Duration) -> Replicas {
        Replicas { fresh_for, rooms: Mutex::default() }
    }

    /// What the copy says, and whether the engine answers; nothing when there is no copy.
    pub(super) async fn ask<T>(
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

    /// Where a fan's number stands by a copy that is young enough, without asking the engine.
    pub(super) fn standing_now(
        &self,
        schedule: ScheduleId,
        (number, fan): (PlaceNumber, UserId),
        now: Timestamp,
    ) -> Option<Standing> {
        let room = self.room(schedule);
        let state = room.read();
        let is_fresh = !state.is_away && state.age(now) < self.fresh_for;
        let replica = state.replica.as_ref().filter(|_| is_fresh)?;
        replica.standing(Returning::Line { number }, fan)
    }

    /// This node's own doing: whoever left here is not told a moment later that they wait.
    pub(super) fn apply(&self, schedule: ScheduleId, change: Change) {
        if let Some(replica) = &mut self.room(schedule).write().replica {
            replica.apply(change);
        }
    }

    pub(super) fn forget(&self, schedule: ScheduleId) {
        self.rooms.lock().expect("nothing panics under this lock").remove(&schedule);
    }

    fn room(&self, schedule: ScheduleId) -> Arc<Kept> {
        let mut rooms = self.rooms.lock().expect("nothing panics under this lock");
        if rooms.len() >= KEPT_MAX && !rooms.contains_key(&schedule) {
            rooms.clear();
        }
        rooms.entry(schedule).or_default().clone()
    }

    async fn freshen(&self, steps: &Steps, rules: &QueueRules, room: &Kept, now: Timestamp) {
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
        // Whoever waited finds it done.
        if turn.is_some() && is_due() {
            let outcome = refresh(steps, rules, room, now).await;
            room.write().conclude(outcome, now);
        }
    }
}

impl Kept {
    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().expect("nothing panics under this lock")
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().expect("nothing panics under this lock")
    }
}

impl State {
    fn conclude(&mut self, outcome: Result<()>, now: Timestamp) {
        self.asked_at = Some(now);
        match (outcome, self.is_away) {
            (Ok(()), true) => tracing::info!("The waiting room goes on"),
            (Err(error), false) => {
                tracing::warn!(%error, "The waiting room does not answer; places are kept");
                self.is_away = true;
                return;
            }
            (Ok(()), false) => (),
            (Err(_), true) => return,
        }
        self.is_away = false;
    }

    /// Takes over changes of the room that it copied; a new copy is shown when it is complete.
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

/// What happened since a node last asked.
pub(super) struct News {
    pub(super) seen: Moment,
    pub(super) facts: Facts,
    pub(super) changes: Vec<Change>,
}

/// Brings the copy up to date, or makes one.
async fn refresh(steps: &Steps, rules: &QueueRules, room: &Kept, now: Timestamp) -> Result<()> {
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

/// Copies a room while it goes on: what changes meanwhile is taken over afterwards.
async fn copy_room(
    steps: &Steps,
    rules: &QueueRules,
    answer: &Answer,
    room: &Kept,
) -> Result<Replica> {
    let News { seen, facts, .. } = answer.news()?;
    let mut copy = Replica::empty(facts, seen);
    if let Some(before) = &room.read().replica {
        copy.take_ranks_of(before);
    }
    let mut after = 0;
    loop {
        let places: Vec<(u64, Tag)> = steps.copy(rules, ("line", after, PER_SLICE)).await?;
        places.iter().for_each(|(number, tag)| copy.apply(Change::Join(*number, *tag)));
        match places.last() {
            Some((last, _)) if places.len() == PER_SLICE => after = *last,
            Some(_) | None => break,
        }
    }
    if !facts.is_drawn {
        for from in (0..facts.opening.n_lobby).step_by(PER_SLICE) {
            let places: Vec<(u32, Tag)> =
                steps.copy(rules, ("lobby", from.into(), PER_SLICE)).await?;
            places.into_iter().for_each(|(index, tag)| copy.apply(Change::Gather(index, tag)));
        }
    }
    Ok(copy)
}
