//! Refunds every payment of a canceled date.

use crate::booking::reservations::tell_filter;
use crate::context::AppContext;
use crate::error::Result;
use crate::operations::jobs::{REFUND_CANCELED, Round, put_off};
use podo_domain::{RefundId, ScheduleId, Timestamp};

/// Reservations of one date in one round.
const ROUND_MAX: u32 = 100;

/// Each reservation has a transaction of its own that also counts it, so a round after a crash
/// finds exactly what is left.
pub async fn refund_canceled_shows(context: &AppContext, now: Timestamp) -> Result<Round> {
    let mut round = Round::default();
    for schedule in context.store.runs_to_do(now).await? {
        // Accounts of the date are closed by their own job; the run waits for their seats.
        context.store.close_deposits_of(schedule, now).await?;
        let (refunded, failed) = refund_some(context, schedule, now).await?;
        if refunded == 0 {
            context.store.finish_run(schedule, now).await?;
        }
        round.done += refunded;
        round.failed += failed;
        round.is_full |= refunded >= u64::from(ROUND_MAX);
    }
    Ok(round)
}

/// Returns how many were refunded and how many failed. A run is done when no seat is left, so a
/// postponed reservation keeps it open.
async fn refund_some(
    context: &AppContext,
    schedule: ScheduleId,
    now: Timestamp,
) -> Result<(u64, u64)> {
    let (mut n_refunded, mut n_failed) = (0, 0);
    for reservation in context.store.to_refund(schedule, now, ROUND_MAX).await? {
        let refund = RefundId::new(context.rng.id(now));
        match context.store.refund_canceled(reservation, refund, now).await {
            Ok(freed) => {
                n_refunded += u64::from(freed.is_some());
                // These seats can't be sold again, so an unavailable filter doesn't matter.
                if let Err(error) = tell_filter(context, freed.as_slice()).await {
                    tracing::warn!(%error, "Could not update the live engines after a refund");
                }
            }
            Err(error) => {
                put_off(context, REFUND_CANCELED, reservation.uuid(), &error).await?;
                n_failed += 1;
            }
        }
    }
    Ok((n_refunded, n_failed))
}
