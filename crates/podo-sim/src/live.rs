//! The product's live engines, in memory, with injected errors, full losses and lost last writes.
//! Every step of the waiting room is checked as it happens.

pub(crate) mod bus;
mod filter;
mod lender;
mod room;

pub(crate) use filter::Filter;
pub(crate) use lender::Lender;
pub(crate) use room::Room;

use crate::Mutation;
use crate::check::coverage::Coverage;
use crate::rng::Rng;
use crate::world::World;
use podo_adapters::live::memory;
use podo_app::operations::port::clock::Clock;
use podo_app::waiting_room::port::queue::Queue as _;
use podo_app::{Error, Result};
use podo_domain::waiting_room::PlaceNumber;
use podo_domain::{ScheduleId, Timestamp, UserId};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many of the last steps can be lost.
const TAIL_MAX: usize = 30;

/// An admitted number, and its waiting room.
type Admitted = (ScheduleId, PlaceNumber);

/// A place assigned to a fan: a number of the line, or an index of the lobby.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Given {
    Number(PlaceNumber),
    Index(u32),
}

struct State {
    queue: Arc<memory::Queue>,
    holds: Arc<memory::SeatFilter>,
    /// Copies of the waiting rooms before each of the last steps.
    before: VecDeque<memory::Queue>,
    forgot_at: Option<Timestamp>,
    /// When a tail was last lost, if no full loss followed.
    tail_lost_at: Option<Timestamp>,
    /// Every assigned place, regardless of what the engines lost.
    given: BTreeMap<(ScheduleId, Given), UserId>,
    /// Admitted numbers, regardless of what the engines lost.
    let_in: BTreeSet<Admitted>,
    /// Those that the store didn't know when an engine lost writes: the room is opened without
    /// their admission, even if its record reaches the store a moment later.
    unrecorded_at_loss: BTreeSet<Admitted>,
    /// The number of live entries in the store when a room was opened, until no more are inside
    /// than the cap allows, by room.
    n_allowed_inside: BTreeMap<ScheduleId, u64>,
}

pub(crate) struct Engines {
    lender: Arc<Lender>,
    /// A separate stream, so that seeds without a lost tail play as before this fault existed.
    rng: Rng,
    loses_tail_per_mille: u64,
    state: Mutex<State>,
}

impl Engines {
    pub(crate) fn new(seed: u64, lender: Lender) -> Engines {
        let rng = Rng::new(!seed);
        let loses_tail_per_mille = rng.one_of(&[0, 0, 4, 12]);
        let lender = Arc::new(lender);
        let state = State {
            queue: Arc::new(memory::Queue::new(lender.clone())),
            holds: Arc::default(),
            before: VecDeque::new(),
            forgot_at: None,
            tail_lost_at: None,
            given: BTreeMap::new(),
            let_in: BTreeSet::new(),
            unrecorded_at_loss: BTreeSet::new(),
            n_allowed_inside: BTreeMap::new(),
        };
        Engines { lender, rng, loses_tail_per_mille, state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn queue(&self) -> Arc<memory::Queue> {
        self.state().queue.clone()
    }

    fn holds(&self) -> Arc<memory::SeatFilter> {
        self.state().holds.clone()
    }

    fn allow_inside(&self, room: ScheduleId, n_fans: u64) {
        self.state().n_allowed_inside.insert(room, n_fans);
    }

    fn n_allowed_inside(&self, room: ScheduleId) -> u64 {
        self.state().n_allowed_inside.get(&room).copied().unwrap_or(0)
    }

    /// The time of the last loss.
    pub(crate) fn lost_at(&self) -> Option<Timestamp> {
        let state = self.state();
        state.forgot_at.max(state.tail_lost_at)
    }

    pub(crate) fn forget(&self, world: &World) {
        world.saw(Coverage::EnginesForgot);
        world.note(|| "the live engines lose everything".to_owned());
        self.note_unrecorded(world);
        let mut state = self.state();
        state.forgot_at = Some(world.time.now());
        state.tail_lost_at = None;
        state.before.clear();
        state.queue = Arc::new(memory::Queue::new(self.lender.clone()));
        state.holds = Arc::default();
    }

    /// Copies the waiting rooms, in case a later loss rolls back to this point.
    fn remember(&self) -> Result<()> {
        if self.loses_tail_per_mille == 0 {
            return Ok(());
        }
        let mut state = self.state();
        if state.before.len() == TAIL_MAX {
            state.before.pop_front();
        }
        let copy = state.queue.copy()?;
        state.before.push_back(copy);
        Ok(())
    }

    /// Rolls the waiting rooms back some steps: a lagging replica took over.
    async fn lose_tail(&self, world: &World) -> Result<()> {
        let now = world.time.now();
        let n_waiting = self.queue().counts(world.room(), now).await?.waiting;
        self.note_unrecorded(world);
        let mut state = self.state();
        if state.before.is_empty() {
            return Ok(());
        }
        let n_lost = 1 + self.rng.below(state.before.len() as u64) as usize;
        let n_kept = state.before.len() - n_lost;
        state.before.truncate(n_kept + 1);
        let Some(queue) = state.before.pop_back() else { return Ok(()) };
        // An engine notices a failover; this mutant hides it.
        if world.mutation != Mutation::LostTailUnnoticed {
            queue.begin_epoch();
        }
        state.queue = Arc::new(queue);
        state.tail_lost_at = Some(now);
        state.before.clear();
        world.saw(Coverage::TailLost);
        if n_waiting > 0 {
            world.saw(Coverage::TailLostWhileWaiting);
        }
        world.note(|| format!("the waiting rooms lose their last {n_lost} steps"));
        Ok(())
    }

    fn note_let_in(&self, room: ScheduleId, number: PlaceNumber) {
        self.state().let_in.insert((room, number));
    }

    /// How many smaller numbers of the room were admitted without the store's knowledge: if the
    /// engine loses that too, they wait in line again.
    pub(crate) fn n_unrecorded_before(
        &self,
        world: &World,
        room: ScheduleId,
        number: PlaceNumber,
    ) -> u64 {
        let unrecorded = self.unrecorded(world);
        let state = self.state();
        let all = unrecorded.union(&state.unrecorded_at_loss);
        all.filter(|(other, it)| *other == room && *it < number).count() as u64
    }

    fn note_unrecorded(&self, world: &World) {
        let unrecorded = self.unrecorded(world);
        self.state().unrecorded_at_loss.extend(unrecorded);
    }

    /// Admitted numbers that the store doesn't know yet.
    fn unrecorded(&self, world: &World) -> BTreeSet<Admitted> {
        let sql = "select schedule_id, place_number from queue_history";
        let read =
            |row: &Vec<String>| Some((ScheduleId::new(row[0].parse().ok()?), row[1].parse().ok()?));
        let recorded: BTreeSet<Admitted> =
            world.store.look(sql, None).iter().filter_map(read).collect();
        self.state().let_in.difference(&recorded).copied().collect()
    }

    /// Whether the rooms have lost a tail.
    fn has_lost_tail(&self) -> bool {
        self.state().tail_lost_at.is_some()
    }

    /// I17: a number or an index belongs to one fan for ever, whatever the engines lose.
    fn note_given(&self, world: &World, room: ScheduleId, given: Given, fan: UserId) {
        let owner = *self.state().given.entry((room, given)).or_insert(fan);
        world.ensure(owner == fan, "I17", || format!("{given:?} of {owner} was given to {fan}"));
    }
}

/// The faults of a node's call to the engines.
async fn travel(world: &Arc<World>, node: usize, step: &'static str) -> Result<()> {
    world.stumble(node, step).await;
    if !world.is_rough() {
        return Ok(());
    }
    if world.rng.happens_rarely(world.swarm.live_forgets_per_mille) {
        world.live.forget(world);
    }
    if world.live.rng.happens_rarely(world.live.loses_tail_per_mille) {
        world.live.lose_tail(world).await?;
    }
    if world.rng.happens_rarely(world.swarm.live_fails_per_mille) {
        world.note(|| format!("node {node}: the live engine fails at {step}"));
        return Err(Error::unavailable("the live engine is away"));
    }
    Ok(())
}
