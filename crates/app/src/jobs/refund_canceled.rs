//! Gives everybody's money back when a date is canceled.

use super::Round;
use crate::error::{Error, Result};
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
        let refunded = refund_some(platform, schedule, now).await?;
        if refunded == 0 {
            platform.store.finish_run(schedule, now).await?;
        }
        round.done += refunded;
        round.is_full |= refunded >= u64::from(ROUND_MAX);
    }
    Ok(round)
}

async fn refund_some(platform: &Platform, schedule: ScheduleId, now: Timestamp) -> Result<u64> {
    let mut n_refunded = 0;
    for reservation in platform.store.to_refund(schedule, ROUND_MAX).await? {
        let refund = RefundId::new(platform.chance.id(now));
        match platform.store.refund_canceled(reservation, refund, now).await {
            Ok(freed) => {
                n_refunded += u64::from(freed.is_some());
                tell_filter(platform, freed.as_slice()).await?;
            }
            // The others must not wait for one that cannot be refunded.
            Err(Error::Refused(refusal)) => {
                tracing::error!(reservation.id = %reservation, ?refusal,
                    "A reservation of a canceled date cannot be refunded; look at its payments");
            }
            Err(error) => return Err(error),
        }
    }
    Ok(n_refunded)
}
