//! Corrects the filter in front of the seats where it has long disagreed with the store.

use super::Round;
use crate::error::Result;
use crate::platform::Platform;
use crate::ports::leases::Lease;
use crate::reconciliation::{heal, look};
use domain::Timestamp;
use domain::reconciliation::GRACE;

/// Most seats of a schedule that one round corrects.
const HEALED_MAX: usize = 20_000;

/// Looks at every schedule that is alive; heals what an earlier round has seen, too. Two nodes
/// that both do it are harmless: each correction compares before it sets.
pub async fn reconcile_seats(
    platform: &Platform,
    lease: Option<Lease>,
    now: Timestamp,
) -> Result<Round> {
    let mut round = Round::default();
    let mut suspected = 0;
    let schedules: Vec<_> =
        platform.store.schedules_alive(now).await?.iter().map(|it| it.schedule).collect();
    for schedule in &schedules {
        let found = look(platform, *schedule).await?.differences;
        suspected += found.len() as u64;
        let mut confirmed = platform.reconciliation.confirm(*schedule, found, GRACE, now);
        confirmed.truncate(HEALED_MAX);
        round.done += heal(platform, *schedule, &confirmed, lease.clone()).await?;
    }
    platform.reconciliation.finish_round(&schedules, suspected);
    Ok(round)
}
