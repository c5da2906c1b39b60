//! The waiting room on Redis: sorted sets per schedule, and every step one atomic script.

mod answer;
mod steps;

use super::Connection;
use app::Result;
use app::ports::queue::{self, Admission, Returning};
use async_trait::async_trait;
use domain::queue::{Entry, QueueCounts, QueueRules, Standing, may_enter};
use domain::{Refusal, ScheduleId, Timestamp, UserId};
use steps::{Steps, flag, ms, name};

/// Few enough that a restore never holds up the server for long.
const ENTRIES_PER_RESTORE_MAX: usize = 500;

pub struct Queue {
    steps: Steps,
}

impl Queue {
    pub fn new(connection: Connection) -> Queue {
        Queue { steps: Steps::new(connection) }
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
    ) -> Result<Standing> {
        let (proof, value) = match returning {
            Some(Returning::Lobby { index }) => ("lobby", u64::from(index)),
            Some(Returning::Line { number }) => ("line", number),
            None => ("none", 0),
        };
        let may_enter = may_enter(&rules.settings);
        let mut call = self.steps.call_by_rules(&self.steps.enter, rules, now);
        call.arg(name(fan)).arg(flag(may_enter.is_ok())).arg(proof).arg(value);
        let answer = self.steps.run_drawn(rules, &call).await?;
        if answer.word == "closed" {
            may_enter?;
        }
        answer.standing()
    }

    async fn standing(&self, rules: &QueueRules, fan: UserId, now: Timestamp) -> Result<Standing> {
        let mut call = self.steps.call(&self.steps.standing, rules.schedule, now);
        call.arg(rules.opens_at.ms()).arg(name(fan));
        self.steps.run_drawn(rules, &call).await?.standing()
    }

    async fn leave(&self, schedule: ScheduleId, fan: UserId, now: Timestamp) -> Result<()> {
        let mut call = self.steps.call(&self.steps.leave, schedule, now);
        call.arg(name(fan));
        self.steps.run(&call).await.map(drop)
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

    async fn admit(&self, rules: &QueueRules, now: Timestamp) -> Result<Vec<Admission>> {
        let call = self.steps.call_by_rules(&self.steps.admit, rules, now);
        self.steps.run_drawn(rules, &call).await?.admissions(rules, now)
    }

    async fn restore(
        &self,
        schedule: ScheduleId,
        entries: &[Admission],
        now: Timestamp,
    ) -> Result<()> {
        for part in entries.chunks(ENTRIES_PER_RESTORE_MAX) {
            let mut call = self.steps.call(&self.steps.restore, schedule, now);
            for Admission { fan, entry } in part {
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
        self.steps.remove(schedule).await
    }
}
