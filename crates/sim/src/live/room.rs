//! One node's way to the waiting room, and the rules that must hold after each step of it.

use super::travel;
use crate::Mutation;
use crate::sight::Sight;
use crate::world::World;
use app::Result;
use app::ports::queue::{Admission, Queue, Returning, Seen};
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
        Ok(world)
    }
}

/// The rules as the engine gets them; a mutant forgets the cap.
fn rules_of(world: &World, rules: &QueueRules) -> QueueRules {
    let mut rules = rules.clone();
    if world.mutation == Mutation::QueueIgnoresCap {
        rules.settings.max_active += 3;
    }
    rules
}

/// I16: no more inside than allowed, at any moment.
async fn check_cap(world: &World, now: Timestamp) -> Result<()> {
    let inside = world.live.queue().counts(world.schedule, now).await?.inside;
    let is_within = inside <= u64::from(world.swarm.max_active);
    world.ensure(is_within, "I16", || format!("{inside} inside, {}", world.swarm.max_active));
    Ok(())
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
        if world.mutation == Mutation::QueueNumbersAnew {
            queue.leave(rules.schedule, fan, now).await?;
        }
        let standing = queue.enter(&rules_of(&world, rules), fan, returning, now).await?;
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
        world.live.queue().standing(&rules_of(&world, rules), fan, proof, now).await
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
        let Some(mut admitted) = admitted else { return Ok(None) };
        if world.mutation == Mutation::QueueAdmitsBackwards {
            admitted.reverse();
        }
        check_cap(&world, now).await?;
        check_order(&world, &admitted, now).await?;
        world.stumble(self.node, "admitted, not recorded").await;
        Ok(Some(admitted))
    }

    async fn restore(
        &self,
        rules: &QueueRules,
        entries: &[Admission],
        now: Timestamp,
    ) -> Result<()> {
        let world = self.reach("queue.restore").await?;
        if !entries.is_empty() {
            world.saw(Sight::RoomRestored);
        }
        let forgets = world.mutation == Mutation::RestoreForgetsEntries;
        let entries = if forgets { &[] } else { entries };
        world.live.queue().restore(rules, entries, now).await?;
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
