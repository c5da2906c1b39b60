//! Follows webhooks that are still open because the process ended or the gateway wasn't ready.

use crate::context::AppContext;
use crate::error::Result;
use crate::operations::jobs::{FOLLOW, Round, put_off};
use crate::payments::gateway_webhooks::{FOLLOW_AFTER, follow};
use podo_domain::Timestamp;

const ROUND_MAX: u32 = 100;

pub async fn follow_webhooks(context: &AppContext, now: Timestamp) -> Result<Round> {
    let kept = context.store.take_webhooks(now, now.plus(FOLLOW_AFTER), ROUND_MAX).await?;
    let mut round = Round { is_full: kept.len() >= ROUND_MAX as usize, ..Round::default() };
    for webhook in kept {
        match follow(context, &webhook.gateway, &webhook.id, webhook.payment).await {
            Ok(()) => round.done += 1,
            Err(error) => {
                put_off(context, FOLLOW, webhook.payment.uuid(), &error).await?;
                round.failed += 1;
            }
        }
    }
    Ok(round)
}
