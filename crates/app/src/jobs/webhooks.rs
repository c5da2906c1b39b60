//! Follows webhooks that nobody followed: the process ended, or it was too early.

use super::{FOLLOW, Round, put_off};
use crate::error::Result;
use crate::platform::Platform;
use crate::webhooks::{FOLLOW_AFTER, follow};
use domain::Timestamp;

const ROUND_MAX: u32 = 100;

pub async fn follow_webhooks(platform: &Platform, now: Timestamp) -> Result<Round> {
    let kept = platform.store.take_webhooks(now, now.plus(FOLLOW_AFTER), ROUND_MAX).await?;
    let mut round = Round { is_full: kept.len() >= ROUND_MAX as usize, ..Round::default() };
    for webhook in kept {
        match follow(platform, &webhook.gateway, &webhook.id, webhook.payment).await {
            Ok(()) => round.done += 1,
            Err(error) => {
                put_off(platform, FOLLOW, webhook.payment.uuid(), &error).await?;
                round.failed += 1;
            }
        }
    }
    Ok(round)
}
