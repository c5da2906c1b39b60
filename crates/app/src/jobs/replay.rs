//! Tries messages again that were set aside, when an organiser asked for it.

use super::Round;
use crate::error::{Error, Result};
use crate::platform::Platform;
use crate::workers::replay;
use domain::Timestamp;

const ROUND_MAX: u32 = 100;

/// Harmless on several nodes: a worker does everything once.
pub async fn replay_dead_letters(platform: &Platform, now: Timestamp) -> Result<Round> {
    let mut round = Round::default();
    for dead in platform.store.replays(ROUND_MAX).await? {
        let error = match replay(platform, &dead).await {
            Ok(()) => None,
            // Later, as it is.
            Err(error @ Error::Unavailable(_)) => return Err(error),
            Err(error) => Some(error.to_string()),
        };
        match error {
            None => round.done += 1,
            Some(_) => round.failed += 1,
        }
        platform.store.finish_replay(dead.id, error, now).await?;
    }
    Ok(round)
}
