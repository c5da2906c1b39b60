//! Corrects the seat filter where it has disagreed with the store for too long.

use crate::booking::reconciliation::{heal, look};
use crate::context::AppContext;
use crate::error::Result;
use crate::operations::jobs::Round;
use crate::operations::port::leases::Lease;
use podo_domain::Timestamp;
use podo_domain::booking::reconciliation::GRACE;
use std::time::Duration;

/// Most seats of a schedule that one round corrects.
const HEALED_MAX: usize = 20_000;

/// A difference is suspected and then confirmed within this time after the change.
const TOUCHED_FOR: Duration = Duration::from_secs(3 * 60);

/// Examines the live schedules that are due and corrects differences that an earlier round has also seen. Safe
/// on several nodes, because each correction is a compare-and-set.
pub async fn reconcile_seats(
    context: &AppContext,
    lease: Option<Lease>,
    now: Timestamp,
) -> Result<Round> {
    let mut round = Round::default();
    let mut suspected = 0;
    let schedules: Vec<_> =
        context.store.schedules_alive(now).await?.iter().map(|it| it.schedule).collect();
    let touched = context.store.schedules_touched(now.minus(TOUCHED_FOR), now).await?;
    for schedule in &context.booking.reconciliation.due(&schedules, touched, now) {
        let looked = look(context, *schedule).await?;
        context.booking.reconciliation.note(*schedule, &looked, now);
        let found = looked.differences;
        suspected += found.len() as u64;
        let mut confirmed = context.booking.reconciliation.confirm(*schedule, found, GRACE, now);
        confirmed.truncate(HEALED_MAX);
        round.done += heal(context, *schedule, &confirmed, lease.clone()).await?;
    }
    context.booking.reconciliation.finish_round(&schedules, suspected);
    Ok(round)
}
