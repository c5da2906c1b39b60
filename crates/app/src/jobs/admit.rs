//! Lets waiting fans in.

use super::Round;
use crate::error::Result;
use crate::platform::Platform;
use crate::schedules::queue_rules;
use domain::Timestamp;

/// One round over every live queue. Safe on several nodes: the engine admits atomically.
pub async fn admit_fans(platform: &Platform, now: Timestamp) -> Result<Round> {
    let mut round = Round::default();
    for record in platform.store.schedules_alive(now).await? {
        let admitted = platform.queue.admit(&queue_rules(&record), now).await?;
        if admitted.is_empty() {
            continue;
        }
        let n_admitted = admitted.len();
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

/// Gives an engine that starts empty the entries that the store remembers, so that fans inside
/// stay inside over a restart.
pub async fn restore_entries(platform: &Platform, now: Timestamp) -> Result<()> {
    for record in platform.store.schedules_alive(now).await? {
        let entries = platform.store.live_entries(record.schedule, now).await?;
        platform.queue.restore(record.schedule, &entries, now).await?;
    }
    Ok(())
}
