//! Admits waiting fans.

use crate::catalog::port::ScheduleRecord;
use crate::context::AppContext;
use crate::error::Result;
use crate::operations::failpoints;
use crate::operations::jobs::Round;
use crate::waiting_room::port::queue::Busy;
use crate::waiting_room::{open_room, rules_now};
use podo_domain::catalog::EventStatus;
use podo_domain::waiting_room::QueueRules;
use podo_domain::{ScheduleId, Timestamp};
use std::collections::HashSet;
use std::time::Duration;

/// One round over the rooms where fans gather or wait, and from time to time over every live room.
/// Safe on several nodes, because the engine admits atomically.
pub async fn admit_fans(context: &AppContext, now: Timestamp) -> Result<Round> {
    let mut round = Round::default();
    if let Some(limits) = context.rules.health_limits {
        context.operations.latency_window.look(limits, now);
    }
    let visits = &context.waiting_room.visits;
    let busy = context.waiting_room.queue.busy(now).await?;
    if busy.is_new {
        visits.visit_all_next();
    }
    let is_full = visits.begin(now);
    let visited = match is_full {
        true => visit_all(context, busy, &mut round, now).await,
        false => visit_busy(context, busy, &mut round, now).await,
    };
    if is_full && visited.is_err() {
        visits.visit_all_next();
    }
    visited.map(|()| round)
}

async fn visit_busy(
    context: &AppContext,
    busy: Busy,
    round: &mut Round,
    now: Timestamp,
) -> Result<()> {
    for room in busy.rooms {
        let Some(record) = find_room(context, room).await? else { continue };
        if !is_alive(&record, now) || admit(context, &record, round, now).await? {
            continue;
        }
        // Its engine lost it, or may have. The next round admits.
        context.waiting_room.visits.visit_all_next();
        reopen(context, &rules_now(context, &record), now).await?;
    }
    Ok(())
}

/// Fans in a closed room can't wait for the next contact. A room without fans is opened by its
/// first one.
async fn visit_all(
    context: &AppContext,
    busy: Busy,
    round: &mut Round,
    now: Timestamp,
) -> Result<()> {
    let busy: HashSet<ScheduleId> = busy.rooms.into_iter().collect();
    let entered = context.store.schedules_entered(now).await?;
    let entered: HashSet<ScheduleId> = entered.into_iter().collect();
    let alive = context.store.schedules_alive(now).await?;
    let rooms = alive.iter().flat_map(ScheduleRecord::rooms);
    let mut records: Vec<ScheduleRecord> = rooms.filter(|room| is_alive(room, now)).collect();
    records.sort_by_key(|record| !busy.contains(&record.schedule));
    for record in &records {
        if admit(context, record, round, now).await? {
            continue;
        }
        let rules = rules_now(context, record);
        let has_fans = busy.contains(&record.schedule)
            || entered.contains(&record.schedule)
            || context.waiting_room.queue.survey(record.schedule, now).await?.survivors.is_some();
        if has_fans {
            reopen(context, &rules, now).await?;
        }
    }
    Ok(())
}

async fn reopen(context: &AppContext, rules: &QueueRules, now: Timestamp) -> Result<()> {
    open_room(context, rules, now).await?;
    tracing::info!(schedule.id = %rules.schedule, "Opened a waiting room");
    Ok(())
}

/// One round in a room; false if it isn't open.
async fn admit(
    context: &AppContext,
    record: &ScheduleRecord,
    round: &mut Round,
    now: Timestamp,
) -> Result<bool> {
    let rules = rules_now(context, record);
    let Some(admitted) = context.waiting_room.queue.admit(&rules, now).await? else {
        return Ok(false);
    };
    if admitted.is_empty() {
        return Ok(true);
    }
    failpoints::reach(failpoints::ADMITTED);
    let n_admitted = admitted.len();
    let numbers = admitted.iter().map(|admission| admission.entry.number);
    let opened_at = record.times.sale_starts_at;
    context.waiting_room.waits.note_admissions(record.schedule, opened_at, numbers, now);
    context.store.record_admissions(record.schedule, admitted, now).await?;
    tracing::debug!(
        schedule.id = %record.schedule,
        round.n_admitted = n_admitted,
        "Admitted {n_admitted} fans"
    );
    round.done += n_admitted as u64;
    Ok(true)
}

/// The record of a waiting room; `None` if its date or its phase was removed.
async fn find_room(context: &AppContext, room: ScheduleId) -> Result<Option<ScheduleRecord>> {
    let record = context.store.schedule(room.date()).await?;
    let rooms = record.iter().flat_map(ScheduleRecord::rooms);
    Ok(rooms.into_iter().find(|record| record.schedule == room))
}

/// The same condition as [`schedules_alive`](crate::catalog::port::Catalog::schedules_alive).
pub(crate) fn is_alive(record: &ScheduleRecord, now: Timestamp) -> bool {
    const HOUR: Duration = Duration::from_secs(3_600);
    let (opens_at, ends_at) = (record.times.sale_starts_at, record.times.sale_ends_at);
    record.event_status == EventStatus::Open
        && !record.is_canceled()
        && now.minus(HOUR) < ends_at
        && opens_at < now.plus(HOUR * 24)
}

/// Opens the rooms with fans inside before the first request, so that they stay inside after a
/// restart.
pub async fn open_rooms(context: &AppContext, now: Timestamp) -> Result<()> {
    for room in context.store.schedules_entered(now).await? {
        let Some(record) = find_room(context, room).await? else { continue };
        if is_alive(&record, now) {
            open_room(context, &rules_now(context, &record), now).await?;
        }
    }
    Ok(())
}
