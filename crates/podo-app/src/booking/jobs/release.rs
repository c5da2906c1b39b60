//! Puts allocations on sale at the time that their organisers chose.

use crate::booking::allocations::tell_released;
use crate::booking::port::allocations::ReleaseKept;
use crate::context::AppContext;
use crate::error::{Error, Result};
use crate::operations::jobs::{RELEASE_KEPT, Round, put_off};
use podo_domain::{Refusal, Timestamp};

const ROUND_MAX: u32 = 50;

/// Two nodes may do this at once: the second finds the allocation released.
pub async fn release_kept(context: &AppContext, now: Timestamp) -> Result<Round> {
    let due = context.store.releases_due(now, ROUND_MAX).await?;
    let mut round = Round { is_full: due.len() >= ROUND_MAX as usize, ..Round::default() };
    for it in due {
        let (schedule, allocation) = (it.schedule, it.allocation);
        let command = ReleaseKept { actor: None, schedule, allocation, seats: None, now };
        match context.store.release_kept(command).await {
            Ok(change) => {
                tell_released(context, &change).await;
                round.done += 1;
            }
            Err(error @ Error::Unavailable(_)) => return Err(error),
            Err(Error::Conflict(_) | Error::Refused(Refusal::AllocationReleased)) => {}
            Err(error) => {
                put_off(context, RELEASE_KEPT, allocation.uuid(), &error).await?;
                round.failed += 1;
            }
        }
    }
    Ok(round)
}
