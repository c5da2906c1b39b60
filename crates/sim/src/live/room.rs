//! One node's way to the waiting room, and the rules that must hold after each step of it.

use super::{Given, travel};
use crate::Mutation;
use crate::sight::Sight;
use crate::world::World;
use app::Result;
use app::ports::clock::Clock;
use app::ports::queue::{Admission, Queue, Remembered, Returning, Seen, Survey};
use async_trait::async_trait;
use domain::queue::{Entry, PlaceNumber, QueueCounts, QueueRules, Standing};
use domain::{ScheduleId, Timestamp, UserId};
use std::sync::{Arc, Weak};

pub(crate) struct Room {
    pub(crate) world: Weak<World>,
    pub(crate) node: usize,
}

impl Room {
    async fn reach(&self, step: &'static str) -> Result<Arc<World>> {
        let world = self.world.upgrade().expect("nobody queues after the end of the world");
        travel(&world, self.node, step).await?;
        world.live.remember()?;
        Ok(world)
    }
}

/// I17: whatever a fan is told to have is theirs alone.
fn check_owner(world: &World, standing: Standing, fan: UserId) {
    let given = match standing {
        Standing::Lobby { index, .. } => Given::Index(index),
        Standing::Waiting { number, .. } => Given::Number(number),
        Standing::Inside(entry) => {
            world.live.note_let_in(entry.number);
            Given::Number(entry.number)
        }
        Standing::Expired | Standing::Absent => return,
    };
    world.live.note_given(world, given, fan);
}

/// The rules as the engine gets them; a mutant forgets the cap.
fn rules_of(world: &World, rules: &QueueRules) -> QueueRules {
    let mut rules = rules.clone();
    if world.mutation == Mutation::QueueIgnoresCap {
        rules.settings.max_active += 3;
    }
    rules
}

/// I16: no more inside than allowed, at any moment. A node whose machine was suspended takes entries
/// for alive that are over, until it compares its clock: the shared time decides who is inside. After
/// a loss those stay whom the store knows to be inside, also when it heard of one so late that the
/// slot had gone to another.
async fn check_cap(world: &World, now: Timestamp) -> Result<()> {
    let now = now.max(world.time.now());
    let inside = world.live.queue().counts(world.schedule, now).await?.inside;
    let cap = u64::from(world.swarm.max_active);
    if inside <= cap {
        world.live.allow_inside(0);
    }
    let is_within = inside <= cap.max(world.live.n_allowed_inside());
    world.ensure(is_within, "I16", || format!("{inside} inside, {}", world.swarm.max_active));
    Ok(())
}

/// Entries that the store knows to be alive.
fn n_alive(world: &World, now: Timestamp) -> u64 {
    let rows =
        world.store.look("select expires_at from queue_history where state = 'ACTIVE'", None);
    let is_alive = |row: &&Vec<String>| row[0].parse().is_ok_and(|until: i64| now.ms() < until);
    rows.iter().filter(is_alive).count() as u64
}

/// I18: whoever still waits has a larger number than those just let in, who came by number.
async fn check_order(world: &World, admitted: &[Admission], now: Timestamp) -> Result<()> {
    let numbers: Vec<u64> = admitted.iter().map(|admission| admission.entry.number).collect();
    let Some(last) = numbers.last() else { return Ok(()) };
    let counts = world.live.queue().counts(world.schedule, now).await?;
    let is_in_order = numbers.is_sorted() && (counts.waiting == 0 || *last < counts.front);
    world.ensure(is_in_order, "I18", || format!("let in {numbers:?}, first is {}", counts.front));
    Ok(())
}

#[async_trait]
impl Queue for Room {
    async fn enter(
        &self,
        rules: &QueueRules,
        fan: UserId,
        returning: Option<Returning>,
        now: Timestamp,
    ) -> Result<Option<Standing>> {
        let world = self.reach("queue.enter").await?;
        let queue = world.live.queue();
        let standing = queue.enter(&rules_of(&world, rules), fan, returning, now).await?;
        if let Some(standing) = standing {
            check_owner(&world, standing, fan);
            if world.live.has_lost_tail() {
                world.saw(Sight::JoinedAfterTail);
            }
        }
        check_cap(&world, now).await?;
        Ok(standing)
    }

    async fn come_back(
        &self,
        rules: &QueueRules,
        fan: UserId,
        proof: Returning,
        now: Timestamp,
    ) -> Result<Option<Standing>> {
        let world = self.reach("queue.come_back").await?;
        let queue = world.live.queue();
        let standing = queue.come_back(&rules_of(&world, rules), fan, proof, now).await?;
        if let Some(Standing::Waiting { .. }) = standing {
            world.saw(Sight::PlaceBroughtBack);
            if world.live.has_lost_tail() {
                world.saw(Sight::PlaceOfTailBroughtBack);
            }
        }
        if let Some(standing) = standing {
            check_owner(&world, standing, fan);
        }
        check_cap(&world, now).await?;
        Ok(standing)
    }

    async fn standing(
        &self,
        rules: &QueueRules,
        fan: UserId,
        proof: Option<Returning>,
        now: Timestamp,
    ) -> Result<Seen> {
        let world = self.reach("queue.standing").await?;
        let rules = rules_of(&world, rules);
        let seen = world.live.queue().standing(&rules, fan, proof, now).await?;
        check_owner(&world, seen.standing, fan);
        Ok(seen)
    }

    async fn leave(&self, schedule: ScheduleId, fan: UserId, now: Timestamp) -> Result<()> {
        let world = self.reach("queue.leave").await?;
        world.live.queue().leave(schedule, fan, now).await
    }

    async fn end_entry(
        &self,
        schedule: ScheduleId,
        fan: UserId,
        number: PlaceNumber,
        now: Timestamp,
    ) -> Result<()> {
        let world = self.reach("queue.end_entry").await?;
        world.live.queue().end_entry(schedule, fan, number, now).await
    }

    async fn entry(
        &self,
        schedule: ScheduleId,
        fan: UserId,
        now: Timestamp,
    ) -> Result<Option<Entry>> {
        let world = self.reach("queue.entry").await?;
        let entry = world.live.queue().entry(schedule, fan, now).await?;
        if world.mutation == Mutation::EntryNeverEnds {
            return Ok(world.remembered_entry(fan, entry));
        }
        Ok(entry)
    }

    async fn extend(&self, rules: &QueueRules, fan: UserId, now: Timestamp) -> Result<Entry> {
        let world = self.reach("queue.extend").await?;
        world.live.queue().extend(&rules_of(&world, rules), fan, now).await
    }

    async fn admit(&self, rules: &QueueRules, now: Timestamp) -> Result<Option<Vec<Admission>>> {
        let world = self.reach("queue.admit").await?;
        let admitted = world.live.queue().admit(&rules_of(&world, rules), now).await?;
        let Some(admitted) = admitted else { return Ok(None) };
        for Admission { fan, entry } in &admitted {
            check_owner(&world, Standing::Inside(*entry), *fan);
        }
        check_cap(&world, now).await?;
        check_order(&world, &admitted, now).await?;
        world.stumble(self.node, "admitted, not recorded").await;
        Ok(Some(admitted))
    }

    async fn survey(&self, schedule: ScheduleId, now: Timestamp) -> Result<Survey> {
        let world = self.reach("queue.survey").await?;
        world.live.queue().survey(schedule, now).await
    }

    async fn restore(
        &self,
        rules: &QueueRules,
        remembered: &Remembered,
        now: Timestamp,
    ) -> Result<()> {
        let world = self.reach("queue.restore").await?;
        let queue = world.live.queue();
        if !remembered.inside.is_empty() {
            world.saw(Sight::RoomRestored);
        }
        // Whoever is inside by the store, with a number from the line that is left, was let in since.
        let survivors = queue.survey(rules.schedule, now).await?.survivors;
        let is_of_tail = |entry: &Entry| survivors.is_some_and(|it| it.front <= entry.number);
        if remembered.inside.iter().any(|admission| is_of_tail(&admission.entry)) {
            world.saw(Sight::EntryOfTailRestored);
        }
        queue.restore(rules, remembered, now).await?;
        let n_alive = n_alive(&world, now.max(world.time.now()));
        world.live.allow_inside(n_alive.max(world.live.n_allowed_inside()));
        check_cap(&world, now).await
    }

    async fn counts(&self, schedule: ScheduleId, now: Timestamp) -> Result<QueueCounts> {
        let world = self.reach("queue.counts").await?;
        world.live.queue().counts(schedule, now).await
    }

    async fn remove(&self, schedule: ScheduleId) -> Result<()> {
        let world = self.reach("queue.remove").await?;
        world.live.queue().remove(schedule).await
    }
}
