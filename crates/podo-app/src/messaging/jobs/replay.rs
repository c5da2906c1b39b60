//! Replays dead letters that an organiser asked to replay.

use crate::context::AppContext;
use crate::error::{Error, Result};
use crate::messaging::workers::replay;
use crate::operations::jobs::Round;
use podo_domain::Timestamp;

const ROUND_MAX: u32 = 100;

/// Safe on several nodes, because workers are idempotent.
pub async fn replay_dead_letters(context: &AppContext, now: Timestamp) -> Result<Round> {
    let mut round = Round::default();
    for dead in context.store.replays(ROUND_MAX).await? {
        let error = match replay(context, &dead).await {
            Ok(()) => None,
            // Leave it as it is and retry later.
            Err(error @ Error::Unavailable(_)) => return Err(error),
            Err(error) => Some(error.to_string()),
        };
        match error {
            None => round.done += 1,
            Some(_) => round.failed += 1,
        }
        context.store.finish_replay(dead.id, error, now).await?;
    }
    Ok(round)
}
