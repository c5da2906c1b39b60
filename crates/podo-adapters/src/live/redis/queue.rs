//! The waiting room on Redis: sorted sets per schedule, and one atomic script per step.

mod answer;
mod busy;
mod replica;
mod replicas;
mod steps;

use crate::live::redis::Connection;
use answer::ScriptReply;
use async_trait::async_trait;
use podo_app::waiting_room::port::blocks::QueueBlocks;
use podo_app::waiting_room::port::queue;
use podo_app::waiting_room::port::queue::{
    Admission, Busy, FanPlace, PlaceProof, PositionSnapshot, Remembered, Survey,
};
use podo_app::{Error, Result};
use podo_domain::waiting_room::draw;
use podo_domain::waiting_room::{
    Draw, Entry, PlaceNumber, QueueCounts, QueuePosition, QueueRules, may_enter,
};
use podo_domain::{Refusal, ScheduleId, Timestamp, UserId};
use redis::ScriptInvocation;
use replica::Change;
use replicas::Replicas;
use std::sync::Arc;
use std::time::Duration;
use steps::{Steps, add_pair, flag, ms, name};

/// Small enough that a restore never blocks the server for long.
const ENTRIES_PER_RESTORE_MAX: usize = 500;

/// The maximum age of the replica from which this node answers polls.
const FRESH_FOR: Duration = Duration::from_millis(200);

pub struct Queue {
    steps: Steps,
    replicas: Replicas,
}

impl Queue {
    pub fn new(connection: Connection, blocks: Arc<dyn QueueBlocks>) -> Queue {
        Queue::fresh_for(connection, blocks, FRESH_FOR)
    }

    /// Overrides the replicas' maximum age; zero makes every answer exact.
    pub fn fresh_for(
        connection: Connection,
        blocks: Arc<dyn QueueBlocks>,
        length: Duration,
    ) -> Queue {
        Queue { steps: Steps::new(connection, blocks), replicas: Replicas::new(length) }
    }

    /// `newcomer` selects what happens to a new fan: `join`, `refuse` or only `look`. A fan who was
    /// in the lobby before the room was lost proves the number drawn for them.
    async fn enter_as(
        &self,
        newcomer: &str,
        rules: &QueueRules,
        fan: UserId,
        proof: Option<PlaceProof>,
        now: Timestamp,
    ) -> Result<Option<QueuePosition>> {
        let mut answer = self.try_to_enter(newcomer, rules, fan, proof, now).await?;
        if let ("rank", Some(PlaceProof::Lobby { index })) = (answer.word.as_str(), proof) {
            let number = self.number_drawn(rules, answer.draw()?, index, now).await?;
            let proof = Some(PlaceProof::Line { number });
            answer = self.try_to_enter(newcomer, rules, fan, proof, now).await?;
        }
        match answer.word.as_str() {
            "closed" => Ok(None),
            "refused" => Err(Refusal::QueueClosed.into()),
            _ => answer.position().map(Some),
        }
    }

    async fn number_drawn(
        &self,
        rules: &QueueRules,
        draw: Draw,
        index: u32,
        now: Timestamp,
    ) -> Result<PlaceNumber> {
        // The replica has the drawn order; computing it takes a while for a million places.
        let copy = self.replicas.ask(&self.steps, rules, now, |it| it.number_drawn(index)).await;
        if let Some((Some(number), _)) = copy {
            return Ok(number);
        }
        let ranks = draw::permutation(&rules.draw_seed, draw.n_drawn);
        let rank = ranks.get(index as usize).copied();
        let rank =
            rank.ok_or_else(|| Error::Broken(format!("index {index} is outside {draw:?}")))?;
        Ok(draw.first + u64::from(rank))
    }

    async fn try_to_enter(
        &self,
        newcomer: &str,
        rules: &QueueRules,
        fan: UserId,
        proof: Option<PlaceProof>,
        now: Timestamp,
    ) -> Result<ScriptReply> {
        let (what, value) = match proof {
            Some(PlaceProof::Lobby { index }) => ("lobby", u64::from(index)),
            Some(PlaceProof::Line { number }) => ("line", number),
            None => ("none", 0),
        };
        let mut call = self.steps.call_by_rules(&self.steps.enter, rules, now);
        call.arg(name(fan)).arg(newcomer).arg(what).arg(value);
        self.steps.run_for_fan(rules, now, &call).await
    }
}

/// Adds a slice of the store's history as arguments of `restore.lua`.
fn add_remembered(call: &mut ScriptInvocation<'_>, over: &[FanPlace], inside: &[Admission]) {
    call.arg(over.len());
    for FanPlace { fan, number } in over {
        call.arg(name(*fan)).arg(*number);
    }
    for Admission { fan, entry } in inside {
        call.arg(name(*fan)).arg(entry.number).arg(entry.admitted_at.ms());
        call.arg(entry.expires_at.ms()).arg(entry.extensions_left);
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
        let newcomer = if may_enter(&rules.settings).is_ok() { "join" } else { "refuse" };
        self.enter_as(newcomer, rules, fan, place_proof, now).await
    }

    async fn come_back(
        &self,
        rules: &QueueRules,
        fan: UserId,
        proof: PlaceProof,
        now: Timestamp,
    ) -> Result<Option<QueuePosition>> {
        self.enter_as("look", rules, fan, Some(proof), now).await
    }

    async fn position(
        &self,
        rules: &QueueRules,
        fan: UserId,
        proof: Option<PlaceProof>,
        now: Timestamp,
    ) -> Result<PositionSnapshot> {
        if let Some(proof) = proof
            && let Some((Some(position), is_live)) =
                self.replicas.ask(&self.steps, rules, now, |it| it.position(proof, fan)).await
        {
            return Ok(PositionSnapshot { position, is_live });
        }
        // Just joined, admitted, gone, or without proof: ask the room.
        let mut call = self.steps.call(&self.steps.position, rules.schedule, now);
        call.arg(rules.opens_at.ms()).arg(name(fan));
        let position = self.steps.run_for_fan(rules, now, &call).await?.position()?;
        Ok(PositionSnapshot { position, is_live: true })
    }

    fn cached_position(
        &self,
        schedule: ScheduleId,
        place: FanPlace,
        now: Timestamp,
    ) -> Option<QueuePosition> {
        self.replicas.cached_position(schedule, place, now)
    }

    async fn leave(&self, schedule: ScheduleId, fan: UserId, now: Timestamp) -> Result<()> {
        let mut call = self.steps.call(&self.steps.leave, schedule, now);
        call.arg(name(fan));
        let answer = self.steps.run(&call).await?;
        if let Ok(number) = answer.value(0) {
            self.replicas.apply(schedule, Change::Leave(number));
        }
        if let Ok(index) = answer.value(1) {
            self.replicas.apply(schedule, Change::Go(index));
        }
        Ok(())
    }

    async fn end_entry(
        &self,
        schedule: ScheduleId,
        fan: UserId,
        number: PlaceNumber,
        now: Timestamp,
    ) -> Result<()> {
        let mut call = self.steps.call(&self.steps.end_entry, schedule, now);
        call.arg(name(fan)).arg(number);
        self.steps.run(&call).await?;
        Ok(())
    }

    async fn entry(
        &self,
        schedule: ScheduleId,
        fan: UserId,
        now: Timestamp,
    ) -> Result<Option<Entry>> {
        let mut call = self.steps.call(&self.steps.entry, schedule, now);
        call.arg(name(fan));
        let answer = self.steps.run(&call).await?;
        match answer.word.as_str() {
            "inside" => answer.entry().map(Some),
            "absent" => Ok(None),
            _ => Err(answer.unexpected()),
        }
    }

    async fn extend(&self, rules: &QueueRules, fan: UserId, now: Timestamp) -> Result<Entry> {
        let mut call = self.steps.call(&self.steps.extend, rules.schedule, now);
        call.arg(rules.opens_at.ms()).arg(name(fan)).arg(ms(rules.settings.entry_ttl()));
        let answer = self.steps.run_drawn(rules, now, &call).await?;
        match answer.word.as_str() {
            "inside" => answer.entry(),
            "expired" => Err(Refusal::EntryExpired.into()),
            "used_up" => Err(Refusal::NoExtensionsLeft.into()),
            _ => Err(answer.unexpected()),
        }
    }

    async fn admit(&self, rules: &QueueRules, now: Timestamp) -> Result<Option<Vec<Admission>>> {
        let call = self.steps.call_by_rules(&self.steps.admit, rules, now);
        let answer = self.steps.run_drawn(rules, now, &call).await?;
        if answer.word == "closed" {
            return Ok(None);
        }
        answer.admissions(rules, now).map(Some)
    }

    async fn survey(&self, schedule: ScheduleId, now: Timestamp) -> Result<Survey> {
        let call = self.steps.call(&self.steps.survivors, schedule, now);
        self.steps.run(&call).await?.survey()
    }

    async fn restore(
        &self,
        rules: &QueueRules,
        remembered: &Remembered,
        now: Timestamp,
    ) -> Result<()> {
        let schedule = rules.schedule;
        let blocks = self.steps.blocks(schedule, now).await?;
        let mut over = remembered.over.chunks(ENTRIES_PER_RESTORE_MAX);
        let mut inside = remembered.inside.chunks(ENTRIES_PER_RESTORE_MAX);
        // At least one call, because the last call opens the room.
        let n_calls = over.len().max(inside.len()).max(1);
        let mut epoch = remembered.epoch.clone().unwrap_or_default();
        for number in 1..=n_calls {
            let mut call = self.steps.call(&self.steps.restore, schedule, now);
            call.arg(flag(number == n_calls)).arg(&epoch).arg(rules.settings.max_active);
            call.arg(blocks.numbers_to).arg(blocks.indexes_to);
            add_pair(&mut call, blocks.draw.map(|draw| (draw.n_drawn, draw.first)));
            let over = over.next().unwrap_or_default();
            add_remembered(&mut call, over, inside.next().unwrap_or_default());
            let answer = self.steps.run(&call).await?;
            if answer.word == "other" {
                return Err(Error::unavailable("another Redis server took over the waiting room"));
            }
            epoch = answer.value(0)?;
        }
        Ok(())
    }

    async fn counts(&self, schedule: ScheduleId, now: Timestamp) -> Result<QueueCounts> {
        let call = self.steps.call(&self.steps.counts, schedule, now);
        let answer = self.steps.run(&call).await?;
        match answer.word.as_str() {
            "counts" => answer.counts(),
            "absent" => Ok(QueueCounts::default()),
            _ => Err(answer.unexpected()),
        }
    }

    async fn busy(&self, now: Timestamp) -> Result<Busy> {
        self.steps.busy(now).await
    }

    async fn remove(&self, schedule: ScheduleId) -> Result<()> {
        self.replicas.forget(schedule);
        self.steps.remove(schedule).await
    }
}
