//! What the live engine and the store must agree on. Both change all the time, so only what two
//! looks saw, a moment apart, counts.

use super::live;
use crate::error::{Error, Result};
use crate::paging::PageAsk;
use crate::platform::Platform;
use crate::ports::catalog::ScheduleRecord;
use crate::ports::invariants::Finding;
use crate::ports::queue::Admission;
use crate::reconciliation;
use domain::reservations::ReservationStatus;
use domain::{Timestamp, UserId};
use futures::stream::{self, StreamExt, TryStreamExt};
use std::collections::{BTreeSet, HashSet};
use std::time::Duration;

/// Entries of a date that are looked up one by one.
const ENTRIES_MAX: usize = 2_000;

/// Reservations of a fan that are looked at, the newest first.
const RESERVATIONS_MAX: u32 = 10;

/// Questions to the engine at a time.
const AT_ONCE: usize = 32;

/// How many offenders are named.
const EXAMPLES_MAX: usize = 5;

/// What one look saw: how much there was, and what is wrong with it.
type Seen = (u64, BTreeSet<String>);

/// I17, as far as a moment shows it: whoever the store let in and who holds seats is inside, once and
/// under the number of then, whatever the engine has forgotten since. Somebody who has not come yet
/// is not asked for: they may have lost their slot, and being asked for would count as coming.
pub(super) async fn places_are_kept(platform: &Platform, grace: Duration) -> Result<Finding> {
    let rule = "whoever was let in and holds seats is inside, once and under the same number";
    twice(live("I17", rule), grace, async || {
        let (mut n_seen, mut wrong) = (0, BTreeSet::new());
        for record in platform.store.schedules_alive(platform.now()).await? {
            let entries = platform.store.live_entries(record.schedule, platform.now()).await?;
            n_seen += entries.len() as u64;
            wrong.extend(not_inside(platform, &record, &entries).await?);
            wrong.extend(twice_inside(&record, &entries));
        }
        Ok((n_seen, wrong))
    })
    .await
}

async fn not_inside(
    platform: &Platform,
    record: &ScheduleRecord,
    entries: &[Admission],
) -> Result<Vec<String>> {
    let asked = entries.iter().take(ENTRIES_MAX).map(|Admission { fan, entry }| async move {
        if !has_come(platform, record, (*fan, entry.admitted_at)).await? {
            return Ok(None);
        }
        let known = platform.queue.entry(record.schedule, *fan, platform.now()).await?;
        let is_same = known.is_some_and(|known| known.number == entry.number);
        let wrong = || format!("{} {fan} is not inside as {}", record.schedule, entry.number);
        Ok::<_, Error>((!is_same).then(wrong))
    });
    let answers: Vec<Option<String>> =
        stream::iter(asked.collect::<Vec<_>>()).buffer_unordered(AT_ONCE).try_collect().await?;
    Ok(answers.into_iter().flatten().collect())
}

/// Whether the fan holds seats that they chose since they were let in.
async fn has_come(
    platform: &Platform,
    record: &ScheduleRecord,
    (fan, admitted_at): (UserId, Timestamp),
) -> Result<bool> {
    let page = PageAsk { limit: RESERVATIONS_MAX, after: None };
    let theirs = platform.store.reservations_of(fan, page).await?;
    Ok(theirs.iter().any(|it| {
        it.schedule_id == record.schedule
            && it.status == ReservationStatus::Held
            && it.created_at >= admitted_at
    }))
}

fn twice_inside(record: &ScheduleRecord, entries: &[Admission]) -> Vec<String> {
    let mut seen = HashSet::new();
    let again = entries.iter().filter(|it| !seen.insert(it.fan));
    again.map(|it| format!("{} {} is inside twice", record.schedule, it.fan)).collect()
}

/// The filter in front of the seats refuses exactly those that are somebody's in the store. A job
/// corrects it; until then it costs speed, or sales of seats that nobody has.
pub(super) async fn filter_is_true(platform: &Platform, grace: Duration) -> Result<Finding> {
    twice(live("F1", "the filter of the seats knows what the store knows"), grace, async || {
        let (mut n_seen, mut wrong) = (0, BTreeSet::new());
        for record in platform.store.schedules_alive(platform.now()).await? {
            let look = reconciliation::look(platform, record.schedule).await?;
            n_seen += look.n_store.max(look.n_filter) as u64;
            let describe = |it: &domain::reconciliation::Difference| {
                format!("{} seat {}: {:?}", record.schedule, it.seat, it.kind())
            };
            wrong.extend(look.differences.iter().map(describe));
        }
        Ok((n_seen, wrong))
    })
    .await
}

/// A change under way looks wrong too; it is over by the second look.
async fn twice(
    mut finding: Finding,
    grace: Duration,
    look: impl AsyncFn() -> Result<Seen>,
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
