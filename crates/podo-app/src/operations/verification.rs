//! Checks every invariant against the store and the live engine.

pub mod hourly;
mod live;

use crate::catalog::port::ScheduleRecord;
use crate::context::AppContext;
use crate::error::Result;
use crate::operations::port::invariants::{Finding, Stopped};
use crate::waiting_room::jobs::is_alive;
use podo_domain::waiting_room::QueueMode;
use podo_domain::{Refusal, ScheduleId, Timestamp, UserId};
use std::time::Duration;

/// How long a difference between engine and store may be a change in progress.
const GRACE: Duration = Duration::from_secs(3);

/// Checks the invariants that need only the store and the counts of the waiting rooms, in order of
/// their ids.
pub async fn check(context: &AppContext, now: Timestamp) -> Result<Vec<Finding>> {
    let mut findings = context.store.check_all(now).await?;
    findings.extend(check_queues(context, now).await?);
    findings.sort_by_key(|finding| finding.id[1..].parse::<u32>().unwrap_or(u32::MAX));
    Ok(findings)
}

/// Also checks what the live engine must know; for callers that share the engine with the nodes.
pub async fn check_with_engine(context: &AppContext, now: Timestamp) -> Result<Vec<Finding>> {
    let mut findings = check(context, now).await?;
    findings.push(live::places_are_kept(context, GRACE).await?);
    findings.push(live::filter_is_true(context, GRACE).await?);
    Ok(findings)
}

/// I16 and I20, for every live waiting room.
async fn check_queues(context: &AppContext, now: Timestamp) -> Result<[Finding; 2]> {
    let mut cap = live("I16", "no more fans are inside than allowed");
    let mut moves = live("I20", "with a slot free a waiting fan is admitted");
    for record in live_rooms(context, now).await? {
        let counts = context.waiting_room.queue.counts(record.schedule, now).await?;
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

/// Every waiting room in which fans may gather, wait or be inside.
async fn live_rooms(context: &AppContext, now: Timestamp) -> Result<Vec<ScheduleRecord>> {
    let alive = context.store.schedules_alive(now).await?;
    let rooms = alive.iter().flat_map(ScheduleRecord::rooms);
    Ok(rooms.filter(|room| is_alive(room, now)).collect())
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

pub async fn stopped_sales(context: &AppContext) -> Result<Vec<Stopped>> {
    context.store.stopped_sales().await
}

/// Resumes a sale after an organiser's review. The next check stops it again if necessary.
pub async fn resume_sale(context: &AppContext, actor: UserId, schedule: ScheduleId) -> Result<()> {
    context.store.schedule(schedule).await?.ok_or(Refusal::NotFound)?;
    context.store.resume_sale(schedule, actor, context.now()).await
}
