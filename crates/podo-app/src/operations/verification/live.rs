//! Invariants between the live engine and the store. Both change all the time, so only differences
//! that two reads a moment apart both see count.

use crate::booking::reconciliation;
use crate::catalog::port::ScheduleRecord;
use crate::context::AppContext;
use crate::error::{Error, Result};
use crate::operations::port::invariants::Finding;
use crate::operations::verification::{live, live_rooms};
use crate::store::PageRequest;
use crate::waiting_room::port::queue::Admission;
use futures::stream::{self, StreamExt, TryStreamExt};
use podo_domain::booking::reservations::ReservationStatus;
use podo_domain::{Timestamp, UserId};
use std::collections::{BTreeSet, HashSet};
use std::time::Duration;

/// Entries of a date that are looked up one by one.
const ENTRIES_MAX: usize = 2_000;

/// Reservations of a fan that are examined, newest first.
const RESERVATIONS_MAX: u32 = 10;

/// Concurrent queries to the engine.
const AT_ONCE: usize = 32;

/// Most violations listed.
const EXAMPLES_MAX: usize = 5;

/// The result of one read: how much was checked, and the violations.
type Examined = (u64, BTreeSet<String>);

/// I17, as far as one moment shows it: a fan whom the store admitted and who holds seats is inside,
/// once and under the original number, whatever the engine has lost since. Fans who haven't claimed
/// their entry are skipped: they may have lost their slot, and the query would count as a claim.
pub(crate) async fn places_are_kept(context: &AppContext, grace: Duration) -> Result<Finding> {
    let rule = "an admitted fan who holds seats is inside, once and under the same number";
    twice(live("I17", rule), grace, async || {
        let (mut n_seen, mut wrong) = (0, BTreeSet::new());
        for record in live_rooms(context, context.now()).await? {
            let entries = context.store.live_entries(record.schedule, context.now()).await?;
            n_seen += entries.len() as u64;
            wrong.extend(not_inside(context, &record, &entries).await?);
            wrong.extend(twice_inside(&record, &entries));
        }
        Ok((n_seen, wrong))
    })
    .await
}

async fn not_inside(
    context: &AppContext,
    record: &ScheduleRecord,
    entries: &[Admission],
) -> Result<Vec<String>> {
    let asked = entries.iter().take(ENTRIES_MAX).map(|Admission { fan, entry }| async move {
        if !has_come(context, record, *fan, entry.admitted_at).await? {
            return Ok(None);
        }
        let known = context.waiting_room.queue.entry(record.schedule, *fan, context.now()).await?;
        let is_same = known.is_some_and(|known| known.number == entry.number);
        let wrong = || format!("{} {fan} is not inside as {}", record.schedule, entry.number);
        Ok::<_, Error>((!is_same).then(wrong))
    });
    let answers: Vec<Option<String>> =
        stream::iter(asked.collect::<Vec<_>>()).buffer_unordered(AT_ONCE).try_collect().await?;
    Ok(answers.into_iter().flatten().collect())
}

/// Whether the fan holds seats that they picked since admission.
async fn has_come(
    context: &AppContext,
    record: &ScheduleRecord,
    fan: UserId,
    admitted_at: Timestamp,
) -> Result<bool> {
    let page = PageRequest { limit: RESERVATIONS_MAX, after: None };
    let theirs = context.store.reservations_of(fan, page).await?;
    Ok(theirs.iter().any(|it| {
        it.schedule_id == record.schedule.date()
            && it.status == ReservationStatus::Held
            && it.created_at >= admitted_at
    }))
}

fn twice_inside(record: &ScheduleRecord, entries: &[Admission]) -> Vec<String> {
    let mut seen = HashSet::new();
    let again = entries.iter().filter(|it| !seen.insert(it.fan));
    again.map(|it| format!("{} {} is inside twice", record.schedule, it.fan)).collect()
}

/// The seat filter refuses exactly the seats that are taken in the store. A job corrects it; until
/// then a difference costs speed, or blocks the sale of free seats.
pub(crate) async fn filter_is_true(context: &AppContext, grace: Duration) -> Result<Finding> {
    twice(live("F1", "the seat filter agrees with the store"), grace, async || {
        let (mut n_seen, mut wrong) = (0, BTreeSet::new());
        for record in context.store.schedules_alive(context.now()).await? {
            let look = reconciliation::look(context, record.schedule).await?;
            n_seen += look.n_store.max(look.n_filter) as u64;
            let describe = |it: &podo_domain::booking::reconciliation::Difference| {
                format!("{} seat {}: {:?}", record.schedule, it.seat, it.kind())
            };
            wrong.extend(look.differences.iter().map(describe));
        }
        Ok((n_seen, wrong))
    })
    .await
}

/// A change in progress also looks wrong; it's over by the second read.
async fn twice(
    mut finding: Finding,
    grace: Duration,
    look: impl AsyncFn() -> Result<Examined>,
) -> Result<Finding> {
    let (n_checked, first) = look().await?;
    finding.n_checked = n_checked;
    if first.is_empty() {
        return Ok(finding);
    }
    tokio::time::sleep(grace).await;
    let (_, second) = look().await?;
    let both: Vec<&String> = first.intersection(&second).collect();
    finding.n_broken = both.len() as u64;
    finding.examples = both.into_iter().take(EXAMPLES_MAX).cloned().collect();
    Ok(finding)
}
