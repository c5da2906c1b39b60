//! Every promise, asked of the store and of the live engine.

mod live;

use crate::error::Result;
use crate::platform::Platform;
use crate::ports::invariants::{Finding, Stopped};
use domain::queue::QueueMode;
use domain::{Refusal, ScheduleId, Timestamp, UserId};
use std::time::Duration;

/// How long a difference between engine and store may be a change under way.
const GRACE: Duration = Duration::from_secs(3);

/// Asks everything that a store and the counts of its waiting rooms can answer; in the order of the
/// names.
pub async fn check(platform: &Platform, now: Timestamp) -> Result<Vec<Finding>> {
    let mut findings = platform.store.check_all(now).await?;
    findings.extend(check_queues(platform, now).await?);
    findings.sort_by_key(|finding| finding.id[1..].parse::<u32>().unwrap_or(u32::MAX));
    Ok(findings)
}

/// The same, and what the live engine must know besides: for those who share it with the nodes.
pub async fn check_with_engine(platform: &Platform, now: Timestamp) -> Result<Vec<Finding>> {
    let mut findings = check(platform, now).await?;
    findings.push(live::places_are_kept(platform, GRACE).await?);
    findings.push(live::filter_is_true(platform, GRACE).await?);
    Ok(findings)
}

/// I16 and I20, for every waiting room that is alive.
async fn check_queues(platform: &Platform, now: Timestamp) -> Result<[Finding; 2]> {
    let mut cap = live("I16", "no more fans are inside than allowed");
    let mut moves = live("I20", "with somebody waiting and a slot free, somebody is let in");
    for record in platform.store.schedules_alive(now).await? {
        let counts = platform.queue.counts(record.schedule, now).await?;
        let max_active = u64::from(record.queue.max_active);
        let example = format!("{} {} of {max_active} inside", record.schedule, counts.inside);
        note(&mut cap, counts.inside <= max_active, &example);
        let is_open = record.queue.mode == QueueMode::Auto && record.times.sale_starts_at <= now;
        let may_enter = is_open && counts.waiting > 0 && counts.inside < max_active;
        // The engine measures over the last minute.
        note(&mut moves, !may_enter || counts.admitted_per_second > 0.0, &example);
    }
    Ok([cap, moves])
}

fn live(id: &'static str, rule: &'static str) -> Finding {
    let (examples, stops) = (Vec::new(), Vec::new());
    Finding { id, rule, n_checked: 0, n_broken: 0, examples, stops }
}

fn note(finding: &mut Finding, holds: bool, example: &str) {
    finding.n_checked += 1;
    if !holds {
        finding.n_broken += 1;
        finding.examples.push(example.to_owned());
    }
}

pub async fn stopped_sales(platform: &Platform) -> Result<Vec<Stopped>> {
    platform.store.stopped_sales().await
}

/// An organiser has looked: the date is sold on. The next check stops it again if need be.
pub async fn resume_sale(platform: &Platform, actor: UserId, schedule: ScheduleId) -> Result<()> {
    platform.store.schedule(schedule).await?.ok_or(Refusal::NotFound)?;
    platform.store.resume_sale(schedule, actor, platform.now()).await
}
