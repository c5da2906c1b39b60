//! The live engines of the product, in memory, made to fail, to forget everything and to lose their
//! last writes. Every step of the waiting room is checked as it happens.

mod filter;
mod lender;
mod room;

pub(crate) use filter::Filter;
pub(crate) use lender::Lender;
pub(crate) use room::Room;

use crate::Mutation;
use crate::chance::Chance;
use crate::sight::Sight;
use crate::world::World;
use adapters::memory;
use app::ports::clock::Clock;
use app::ports::queue::Queue as _;
use app::{Error, Result};
use domain::queue::PlaceNumber;
use domain::{Timestamp, UserId};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many of the last steps can be lost.
const TAIL_MAX: usize = 30;

/// A place that a fan was given: a number of the line, or an index of the lobby.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Given {
    Number(PlaceNumber),
    Index(u32),
}

struct State {
    queue: Arc<memory::Queue>,
    holds: Arc<memory::Holds>,
    /// The waiting rooms before each of the last steps.
    before: VecDeque<memory::Queue>,
    forgot_at: Option<Timestamp>,
    /// When a tail was lost last, if nothing was forgotten since.
    tail_lost_at: Option<Timestamp>,
    /// Who was given what, whatever the engines lost.
    given: BTreeMap<Given, UserId>,
    /// Numbers that were admitted, whatever the engines lost.
    let_in: BTreeSet<PlaceNumber>,
    /// Of these, the ones that the store did not know when an engine lost writes: the room is opened
    /// without their admission, even if its record reaches the store a moment later.
    unrecorded_at_loss: BTreeSet<PlaceNumber>,
    /// How many were inside by the store when a room was opened, until there are no more inside than
    /// the cap allows.
    n_allowed_inside: u64,
}

pub(crate) struct Engines {
    lender: Arc<Lender>,
    /// A stream of its own: seeds in which no tail is lost play as they did before there was this
    /// fault.
    chance: Chance,
    loses_tail_per_mille: u64,
    state: Mutex<State>,
}

impl Engines {
    pub(crate) fn new(seed: u64, lender: Lender) -> Engines {
        let chance = Chance::new(!seed);
        let loses_tail_per_mille = chance.one_of(&[0, 0, 4, 12]);
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
            n_allowed_inside: 0,
        };
        Engines { lender, chance, loses_tail_per_mille, state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn queue(&self) -> Arc<memory::Queue> {
        self.state().queue.clone()
    }

    fn holds(&self) -> Arc<memory::Holds> {
        self.state().holds.clone()
    }

    fn allow_inside(&self, n_fans: u64) {
        self.state().n_allowed_inside = n_fans;
    }

    fn n_allowed_inside(&self) -> u64 {
        self.state().n_allowed_inside
    }

    /// When something was lost last.
    pub(crate) fn lost_at(&self) -> Option<Timestamp> {
        let state = self.state();
        state.forgot_at.max(state.tail_lost_at)
    }

    pub(crate) fn forget(&self, world: &World) {
        world.saw(Sight::EnginesForgot);
        world.note(|| "the live engines lose everything".to_owned());
        self.note_unrecorded(world);
        let mut state = self.state();
        state.forgot_at = Some(world.time.now());
        state.tail_lost_at = None;
        state.before.clear();
        state.queue = Arc::new(memory::Queue::new(self.lender.clone()));
        state.holds = Arc::default();
    }

    /// Remembers the waiting rooms as they are, in case that this is what will be left.
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

    /// The waiting rooms are what they were some steps ago: a replica that lagged took over.
    async fn lose_tail(&self, world: &World) -> Result<()> {
        let now = world.time.now();
        let n_waiting = self.queue().counts(world.schedule, now).await?.waiting;
        self.note_unrecorded(world);
        let mut state = self.state();
        if state.before.is_empty() {
            return Ok(());
        }
        let n_lost = 1 + self.chance.below(state.before.len() as u64) as usize;
        let n_kept = state.before.len() - n_lost;
        state.before.truncate(n_kept + 1);
        let Some(queue) = state.before.pop_back() else { return Ok(()) };
        // A fail-over cannot be hidden from an engine; this mutant does.
        if world.mutation != Mutation::LostTailUnnoticed {
            queue.begin_epoch();
        }
        state.queue = Arc::new(queue);
        state.tail_lost_at = Some(now);
        state.before.clear();
        world.saw(Sight::TailLost);
        if n_waiting > 0 {
            world.saw(Sight::TailLostWhileWaiting);
        }
        world.note(|| format!("the waiting rooms lose their last {n_lost} steps"));
        Ok(())
    }

    fn note_let_in(&self, number: PlaceNumber) {
        self.state().let_in.insert(number);
    }

    /// How many with a smaller number were admitted without the store's knowledge: when the engine
    /// forgets that too, they stand in line again.
    pub(crate) fn n_unrecorded_before(&self, world: &World, number: PlaceNumber) -> u64 {
        let unrecorded = self.unrecorded(world);
        let state = self.state();
        unrecorded.union(&state.unrecorded_at_loss).filter(|it| **it < number).count() as u64
    }

    fn note_unrecorded(&self, world: &World) {
        let unrecorded = self.unrecorded(world);
        self.state().unrecorded_at_loss.extend(unrecorded);
    }

    /// Numbers that were admitted and that the store does not know yet.
    fn unrecorded(&self, world: &World) -> BTreeSet<PlaceNumber> {
        let rows = world.store.look("select place_number from queue_history", None);
        let recorded: BTreeSet<PlaceNumber> =
            rows.iter().filter_map(|row| row[0].parse().ok()).collect();
        self.state().let_in.difference(&recorded).copied().collect()
    }

    /// Are the rooms what is left of others?
    fn has_lost_tail(&self) -> bool {
        self.state().tail_lost_at.is_some()
    }

    /// I17: a number or an index is one fan's for ever, whatever the engines lose.
    fn note_given(&self, world: &World, given: Given, fan: UserId) {
        let owner = *self.state().given.entry(given).or_insert(fan);
        world.ensure(owner == fan, "I17", || format!("{given:?} of {owner} was given to {fan}"));
    }
}

/// What happens to a node's step on its way to the engines.
async fn travel(world: &Arc<World>, node: usize, step: &'static str) -> Result<()> {
    world.stumble(node, step).await;
    if !world.is_rough() {
        return Ok(());
    }
    if world.chance.happens_rarely(world.swarm.live_forgets_per_mille) {
        world.live.forget(world);
    }
    if world.live.chance.happens_rarely(world.live.loses_tail_per_mille) {
        world.live.lose_tail(world).await?;
    }
    if world.chance.happens_rarely(world.swarm.live_fails_per_mille) {
        world.note(|| format!("node {node}: the live engine fails at {step}"));
        return Err(Error::unavailable("the live engine is away"));
    }
    Ok(())
}
