//! Admits waiting fans.

use crate::context::AppContext;
use crate::error::Result;
use crate::operations::failpoints;
use crate::operations::jobs::Round;
use crate::waiting_room::{open_room, rules_now};
use podo_domain::Timestamp;

/// One round over every live queue. Safe on several nodes, because the engine admits atomically.
pub async fn admit_fans(context: &AppContext, now: Timestamp) -> Result<Round> {
    let mut round = Round::default();
    if let Some(limits) = context.rules.health_limits {
        context.operations.latency_window.look(limits, now);
    }
    for record in context.store.schedules_alive(now).await? {
        let rules = rules_now(context, &record);
        let Some(admitted) = context.waiting_room.queue.admit(&rules, now).await? else {
            // The room is new, or its engine lost it. The next round admits.
            open_room(context, &rules, now).await?;
            tracing::info!(schedule.id = %record.schedule, "Opened a waiting room");
            continue;
        };
        if admitted.is_empty() {
            continue;
        }
        failpoints::reach(failpoints::ADMITTED);
        let n_admitted = admitted.len();
        let numbers = admitted.iter().map(|admission| admission.entry.number);
        let opening = (record.schedule, record.times.sale_starts_at);
        context.waiting_room.waits.note_admissions(opening, numbers, now);
        context.store.record_admissions(record.schedule, admitted, now).await?;
        tracing::debug!(
            schedule.id = %record.schedule,
            round.n_admitted = n_admitted,
            "Admitted {n_admitted} fans"
        );
        round.done += n_admitted as u64;
    }
    Ok(round)
}

/// Opens every waiting room before the first request, so that fans whose entries are in the store
/// stay inside after a restart.
pub async fn open_rooms(context: &AppContext, now: Timestamp) -> Result<()> {
    for record in context.store.schedules_alive(now).await? {
        open_room(context, &rules_now(context, &record), now).await?;
    }
    Ok(())
}
