//! One node's access to the waiting room, and the rules that must hold after each step.

use crate::Mutation;
use crate::check::coverage::Coverage;
use crate::live::{Given, travel};
use crate::world::World;
use async_trait::async_trait;
use podo_app::Result;
use podo_app::operations::port::clock::Clock;
use podo_app::waiting_room::port::queue::{
    Admission, Busy, PlaceProof, PositionSnapshot, Queue, Remembered, Survey,
};
use podo_domain::waiting_room::{Entry, PlaceNumber, QueueCounts, QueuePosition, QueueRules};
use podo_domain::{ScheduleId, Timestamp, UserId};
use std::sync::{Arc, Weak};

pub(crate) struct Room {
    pub(crate) world: Weak<World>,
    pub(crate) node: usize,
}

impl Room {
    async fn reach(&self, step: &'static str) -> Result<Arc<World>> {
        let world = self.world.upgrade().expect("the world outlives every call");
        travel(&world, self.node, step).await?;
        world.live.remember()?;
        Ok(world)
    }
}

/// I17: a place belongs to one fan only.
fn check_owner(world: &World, room: ScheduleId, position: QueuePosition, fan: UserId) {
    let given = match position {
        QueuePosition::Lobby { index, .. } => Given::Index(index),
        QueuePosition::Waiting { number, .. } => Given::Number(number),
        QueuePosition::Inside(entry) => {
            world.live.note_let_in(room, entry.number);
            Given::Number(entry.number)
        }
        QueuePosition::Expired | QueuePosition::Absent => return,
    };
    world.live.note_given(world, room, given, fan);
}

/// The rules as the engine gets them; a mutant drops the cap.
fn rules_of(world: &World, rules: &QueueRules) -> QueueRules {
    let mut rules = rules.clone();
    if world.mutation == Mutation::QueueIgnoresCap {
        rules.settings.max_active += 3;
    }
    rules
}

/// I16: no more inside than allowed, at any moment. A node whose machine was suspended counts
/// expired entries as live until it synchronises its clock, so the shared time decides who is
/// inside. After a loss, the store's live entries stay, even one that it recorded so late that the
/// slot had gone to another fan.
async fn check_cap(world: &World, room: ScheduleId, now: Timestamp) -> Result<()> {
    let now = now.max(world.time.now());
    let inside = world.live.queue().counts(room, now).await?.inside;
    let cap = u64::from(world.swarm.max_active);
    if inside <= cap {
        world.live.allow_inside(room, 0);
    }
    let is_within = inside <= cap.max(world.live.n_allowed_inside(room));
    world.ensure(is_within, "I16", || format!("{inside} inside, {}", world.swarm.max_active));
    Ok(())
}

/// Live entries of the room in the store.
fn n_alive(world: &World, room: ScheduleId, now: Timestamp) -> u64 {
    let sql = "select expires_at from queue_history where state = 'ACTIVE' and schedule_id = $1";
    let rows = world.store.look(sql, Some(room.uuid()));
    let is_alive = |row: &&Vec<String>| row[0].parse().is_ok_and(|until: i64| now.ms() < until);
    rows.iter().filter(is_alive).count() as u64
}

/// I18: admission is by number, so every fan who still waits has a larger number than those just
/// admitted. The engine that admitted them is asked: while it waited for the store, another may
/// have replaced it, in which they still wait.
async fn check_order(
    world: &World,
    queue: &impl Queue,
    room: ScheduleId,
    admitted: &[Admission],
    now: Timestamp,
) -> Result<()> {
    let numbers: Vec<u64> = admitted.iter().map(|admission| admission.entry.number).collect();
    let Some(last) = numbers.last() else { return Ok(()) };
    let counts = queue.counts(room, now).await?;
    let is_in_order = numbers.is_sorted() && (counts.waiting == 0 || *last < counts.front);
    world.ensure(is_in_order, "I18", || format!("admitted {numbers:?}, first is {}", counts.front));
    Ok(())
}

#[async_trait]
impl Queue for Room {
    async fn enter(
        &self,
        rules: &QueueRules,
        fan: UserId,
        place_proof: Option<PlaceProof>,
        now: Timestamp,
    ) -> Result<Option<QueuePosition>> {
        let world = self.reach("queue.enter").await?;
        let queue = world.live.queue();
        let position = queue.enter(&rules_of(&world, rules), fan, place_proof, now).await?;
        if let Some(position) = position {
            check_owner(&world, rules.schedule, position, fan);
            if world.live.has_lost_tail() {
                world.saw(Coverage::JoinedAfterTail);
            }
        }
        check_cap(&world, rules.schedule, now).await?;
        Ok(position)
    }

    async fn come_back(
        &self,
        rules: &QueueRules,
        fan: UserId,
        proof: PlaceProof,
        now: Timestamp,
    ) -> Result<Option<QueuePosition>> {
        let world = self.reach("queue.come_back").await?;
        let queue = world.live.queue();
        let position = queue.come_back(&rules_of(&world, rules), fan, proof, now).await?;
        if let Some(QueuePosition::Waiting { .. }) = position {
            world.saw(Coverage::PlaceBroughtBack);
            if world.live.has_lost_tail() {
                world.saw(Coverage::PlaceOfTailBroughtBack);
            }
        }
        if let Some(position) = position {
            check_owner(&world, rules.schedule, position, fan);
        }
        check_cap(&world, rules.schedule, now).await?;
        Ok(position)
    }

    async fn position(
        &self,
        rules: &QueueRules,
        fan: UserId,
        proof: Option<PlaceProof>,
        now: Timestamp,
    ) -> Result<PositionSnapshot> {
        let world = self.reach("queue.standing").await?;
        let rules = rules_of(&world, rules);
        let seen = world.live.queue().position(&rules, fan, proof, now).await?;
        check_owner(&world, rules.schedule, seen.position, fan);
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
        let queue = world.live.queue();
        let admitted = queue.admit(&rules_of(&world, rules), now).await?;
        let Some(admitted) = admitted else { return Ok(None) };
        for Admission { fan, entry } in &admitted {
            check_owner(&world, rules.schedule, QueuePosition::Inside(*entry), *fan);
        }
        check_cap(&world, rules.schedule, now).await?;
        check_order(&world, queue.as_ref(), rules.schedule, &admitted, now).await?;
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
            world.saw(Coverage::RoomRestored);
        }
        // A fan with a live entry in the store and a number from the remaining line was admitted
        // since.
        let survivors = queue.survey(rules.schedule, now).await?.survivors;
        let is_of_tail = |entry: &Entry| survivors.is_some_and(|it| it.front <= entry.number);
        if remembered.inside.iter().any(|admission| is_of_tail(&admission.entry)) {
            world.saw(Coverage::EntryOfTailRestored);
        }
        queue.restore(rules, remembered, now).await?;
        let room = rules.schedule;
        let n_alive = n_alive(&world, room, now.max(world.time.now()));
        world.live.allow_inside(room, n_alive.max(world.live.n_allowed_inside(room)));
        check_cap(&world, rules.schedule, now).await
    }

    async fn counts(&self, schedule: ScheduleId, now: Timestamp) -> Result<QueueCounts> {
        let world = self.reach("queue.counts").await?;
        world.live.queue().counts(schedule, now).await
    }

    async fn busy(&self, now: Timestamp) -> Result<Busy> {
        let world = self.reach("queue.busy").await?;
        world.live.queue().busy(now).await
    }

    async fn remove(&self, schedule: ScheduleId) -> Result<()> {
        let world = self.reach("queue.remove").await?;
        world.live.queue().remove(schedule).await
    }
}
