//! Sends letters out of the house.

use super::Round;
use crate::error::Result;
use crate::notifications::{not_sent, send};
use crate::platform::Platform;
use crate::ports::notifications::NoticeOutcome;
use domain::Timestamp;
use futures::stream::{self, StreamExt, TryStreamExt};
use std::time::Duration;

const ROUND_MAX: u32 = 100;

/// Letters on their way at once.
const AT_ONCE: usize = 16;

/// Longer than any channel may take for all letters of a round.
const TAKEN_FOR: Duration = Duration::from_secs(10 * 60);

/// Many nodes may do it at once: each letter is taken by one of them.
pub async fn send_notices(platform: &Platform, now: Timestamp) -> Result<Round> {
    if platform.channels.0.is_empty() {
        return Ok(Round::default());
    }
    let until = now.plus(TAKEN_FOR);
    let notices = platform.store.take_notices(now, until, ROUND_MAX).await?;
    let is_full = notices.len() >= ROUND_MAX as usize;
    let outcomes: Vec<bool> = stream::iter(notices)
        .map(|notice| async move {
            let outcome = match send(platform, &notice).await {
                Ok(outcome) => outcome,
                // Nothing has left the house, so it may be tried again.
                Err(error) => not_sent(platform, &notice, &error),
            };
            let is_sent = outcome == NoticeOutcome::Sent;
            platform.store.finish_notice(&notice, outcome, platform.now()).await?;
            Ok::<_, crate::Error>(is_sent)
        })
        .buffer_unordered(AT_ONCE)
        .try_collect()
        .await?;
    let done = outcomes.iter().filter(|is_sent| **is_sent).count() as u64;
    Ok(Round { done, failed: outcomes.len() as u64 - done, is_full })
}
