//! Lets waiting fans in.

use super::Round;
use crate::error::Result;
use crate::platform::Platform;
use crate::points;
use crate::queue::{open_room, rules_now};
use domain::Timestamp;

/// One round over every live queue. Safe on several nodes: the engine admits atomically.
pub async fn admit_fans(platform: &Platform, now: Timestamp) -> Result<Round> {
    let mut round = Round::default();
    if let Some(limits) = platform.rules.health_limits {
        platform.vitals.look(limits, now);
    }
    for record in platform.store.schedules_alive(now).await? {
        let rules = rules_now(platform, &record);
        let Some(admitted) = platform.queue.admit(&rules, now).await? else {
            // New, or lost by its engine: the next round goes on with it.
            open_room(platform, &rules, now).await?;
            tracing::info!(schedule.id = %record.schedule, "Opened a waiting room");
            continue;
        };
        if admitted.is_empty() {
            continue;
        }
        points::reach(points::ADMITTED);
        let n_admitted = admitted.len();
        let numbers = admitted.iter().map(|admission| admission.entry.number);
        let opening = (record.schedule, record.times.sale_starts_at);
        platform.waits.note_admissions(opening, numbers, now);
        platform.store.record_admissions(record.schedule, admitted, now).await?;
        tracing::debug!(
            schedule.id = %record.schedule,
            round.n_admitted = n_admitted,
            "Admitted {n_admitted} fans"
        );
        round.done += n_admitted as u64;
    }
    Ok(round)
}

/// Opens every waiting room before the first request: after a restart those who are inside by the
/// store stay inside.
pub async fn open_rooms(platform: &Platform, now: Timestamp) -> Result<()> {
    for record in platform.store.schedules_alive(now).await? {
        open_room(platform, &rules_now(platform, &record), now).await?;
    }
    Ok(())
}
