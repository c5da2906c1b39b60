//! Gives everybody's money back when a date is canceled.

use super::{REFUND_CANCELED, Round, put_off};
use crate::error::Result;
use crate::platform::Platform;
use crate::reservations::tell_filter;
use domain::{RefundId, ScheduleId, Timestamp};

/// Reservations of one date in one round.
const ROUND_MAX: u32 = 100;

/// Each reservation is a transaction of its own and counted in it: whoever goes on after a crash
/// finds exactly what is left.
pub async fn refund_canceled_shows(platform: &Platform, now: Timestamp) -> Result<Round> {
    let mut round = Round::default();
    for schedule in platform.store.runs_to_do(now).await? {
        let (refunded, failed) = refund_some(platform, schedule, now).await?;
        if refunded == 0 {
            platform.store.finish_run(schedule, now).await?;
        }
        round.done += refunded;
        round.failed += failed;
        round.is_full |= refunded >= u64::from(ROUND_MAX);
    }
    Ok(round)
}

/// How many were refunded, and how many could not be. A run is done when no seat is left, so what is
/// put off keeps it open.
async fn refund_some(
    platform: &Platform,
    schedule: ScheduleId,
    now: Timestamp,
) -> Result<(u64, u64)> {
    let (mut n_refunded, mut n_failed) = (0, 0);
    for reservation in platform.store.to_refund(schedule, now, ROUND_MAX).await? {
        let refund = RefundId::new(platform.chance.id(now));
        match platform.store.refund_canceled(reservation, refund, now).await {
            Ok(freed) => {
                n_refunded += u64::from(freed.is_some());
                // Nobody buys these seats: a filter that is away need not hear of it.
                if let Err(error) = tell_filter(platform, freed.as_slice()).await {
                    tracing::warn!(%error, "The live engines did not hear of a refund");
                }
            }
            Err(error) => {
                put_off(platform, REFUND_CANCELED, reservation.uuid(), &error).await?;
                n_failed += 1;
            }
        }
    }
    Ok((n_refunded, n_failed))
}
