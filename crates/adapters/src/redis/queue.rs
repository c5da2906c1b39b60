//! The waiting room on Redis: sorted sets per schedule, and every step one atomic script.

mod answer;
mod arrivals;
mod replica;
mod replicas;
mod steps;

use super::Connection;
use app::Result;
use app::ports::queue::{self, Admission, Returning, Seen};
use async_trait::async_trait;
use domain::queue::{Entry, PlaceNumber, QueueCounts, QueueRules, Standing, may_enter};
use domain::{Refusal, ScheduleId, Timestamp, UserId};
use replica::Change;
use replicas::Replicas;
use std::time::Duration;
use steps::{Steps, flag, ms, name};

/// Few enough that a restore never holds up the server for long.
const ENTRIES_PER_RESTORE_MAX: usize = 500;

/// How old the copy of a room may be from which this node answers polls.
const FRESH_FOR: Duration = Duration::from_millis(200);

pub struct Queue {
    steps: Steps,
    replicas: Replicas,
}

impl Queue {
    pub fn new(connection: Connection) -> Queue {
        Queue::fresh_for(connection, FRESH_FOR)
    }

    /// With copies of another age: none at all makes every answer exact.
    pub fn fresh_for(connection: Connection, length: Duration) -> Queue {
        Queue { steps: Steps::new(connection), replicas: Replicas::new(length) }
    }

    /// `newcomer` says what to do with somebody new: `join`, `refuse` or only `look`.
    async fn enter_as(
        &self,
        newcomer: &str,
        rules: &QueueRules,
        (fan, proof): (UserId, Option<Returning>),
        now: Timestamp,
    ) -> Result<Option<Standing>> {
        let (what, value) = match proof {
            Some(Returning::Lobby { index }) => ("lobby", u64::from(index)),
            Some(Returning::Line { number }) => ("line", number),
            None => ("none", 0),
        };
        let mut call = self.steps.call_by_rules(&self.steps.enter, rules, now);
        call.arg(name(fan)).arg(newcomer).arg(what).arg(value);
        let answer = self.steps.run_drawn(rules, &call).await?;
        match answer.word.as_str() {
            "closed" => Ok(None),
            "refused" => Err(Refusal::QueueClosed.into()),
            _ => answer.standing().map(Some),
        }
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
        let newcomer = if may_enter(&rules.settings).is_ok() { "join" } else { "refuse" };
        self.enter_as(newcomer, rules, (fan, returning), now).await
    }

    async fn come_back(
        &self,
        rules: &QueueRules,
        fan: UserId,
        proof: Returning,
        now: Timestamp,
    ) -> Result<Option<Standing>> {
        let translated = self.replicas.ask(&self.steps, rules, now, |it| it.translate(proof)).await;
        let proof = translated.map_or(proof, |(proof, _)| proof);
        self.enter_as("look", rules, (fan, Some(proof)), now).await
    }

    async fn standing(
        &self,
        rules: &QueueRules,
        fan: UserId,
        proof: Option<Returning>,
        now: Timestamp,
    ) -> Result<Seen> {
        if let Some(proof) = proof
            && let Some((Some(standing), is_live)) =
                self.replicas.ask(&self.steps, rules, now, |it| it.standing(proof)).await
        {
            return Ok(Seen { standing, is_live });
        }
        // Just come, let in, gone, or without proof: the room knows.
        let mut call = self.steps.call(&self.steps.standing, rules.schedule, now);
        call.arg(rules.opens_at.ms()).arg(name(fan));
        let standing = self.steps.run_drawn(rules, &call).await?.standing()?;
        Ok(Seen { standing, is_live: true })
    }

    fn standing_now(
        &self,
        schedule: ScheduleId,
        number: PlaceNumber,
        now: Timestamp,
    ) -> Option<Standing> {
        self.replicas.standing_now(schedule, number, now)
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
        let answer = self.steps.run_drawn(rules, &call).await?;
        match answer.word.as_str() {
            "inside" => answer.entry(),
            "expired" => Err(Refusal::EntryExpired.into()),
            "used_up" => Err(Refusal::NoExtensionsLeft.into()),
            _ => Err(answer.unexpected()),
        }
    }

    async fn admit(&self, rules: &QueueRules, now: Timestamp) -> Result<Option<Vec<Admission>>> {
        let call = self.steps.call_by_rules(&self.steps.admit, rules, now);
        let answer = self.steps.run_drawn(rules, &call).await?;
        if answer.word == "closed" {
            return Ok(None);
        }
        self.replicas.note(rules.schedule, answer.opening()?);
        answer.admissions(rules, now).map(Some)
    }

    async fn restore(
        &self,
        rules: &QueueRules,
        entries: &[Admission],
        now: Timestamp,
    ) -> Result<()> {
        let schedule = rules.schedule;
        let lost = self.replicas.opening(schedule);
        // Without entries too: the last call opens the room.
        let n_calls = entries.len().div_ceil(ENTRIES_PER_RESTORE_MAX).max(1);
        for number in 1..=n_calls {
            let mut call = self.steps.call(&self.steps.restore, schedule, now);
            call.arg(flag(number == n_calls));
            call.arg(lost.n_lobby).arg(lost.n_drawn).arg(lost.drawn_first);
            call.arg(rules.settings.max_active);
            let before = (number - 1) * ENTRIES_PER_RESTORE_MAX;
            for Admission { fan, entry } in entries[before..].iter().take(ENTRIES_PER_RESTORE_MAX) {
                call.arg(name(*fan)).arg(entry.number).arg(entry.admitted_at.ms());
                call.arg(entry.expires_at.ms()).arg(entry.extensions_left);
            }
            self.steps.run(&call).await?;
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

    async fn remove(&self, schedule: ScheduleId) -> Result<()> {
        self.replicas.forget(schedule);
        self.steps.remove(schedule).await
    }
}
