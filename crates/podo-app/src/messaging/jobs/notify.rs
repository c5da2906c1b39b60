//! Sends notifications over the external channels.

use crate::context::AppContext;
use crate::error::Result;
use crate::messaging::notifications::{not_sent, send};
use crate::messaging::port::notifications::NoticeOutcome;
use crate::operations::jobs::Round;
use futures::stream::{self, StreamExt, TryStreamExt};
use podo_domain::Timestamp;
use std::time::Duration;

const ROUND_MAX: u32 = 100;

/// Notifications sent concurrently.
const AT_ONCE: usize = 16;

/// Longer than any channel may take for all notifications of a round.
const TAKEN_FOR: Duration = Duration::from_secs(10 * 60);

/// Safe on several nodes, because each notification is claimed by one of them.
pub async fn send_notices(context: &AppContext, now: Timestamp) -> Result<Round> {
    if context.messaging.channels.0.is_empty() {
        return Ok(Round::default());
    }
    let until = now.plus(TAKEN_FOR);
    let notices = context.store.take_notices(now, until, ROUND_MAX).await?;
    let is_full = notices.len() >= ROUND_MAX as usize;
    let outcomes: Vec<bool> = stream::iter(notices)
        .map(|notice| async move {
            let outcome = match send(context, &notice).await {
                Ok(outcome) => outcome,
                // Nothing has been sent, so a retry is safe.
                Err(error) => not_sent(context, &notice, &error),
            };
            let is_sent = outcome == NoticeOutcome::Sent;
            context.store.finish_notice(&notice, outcome, context.now()).await?;
            Ok::<_, crate::Error>(is_sent)
        })
        .buffer_unordered(AT_ONCE)
        .try_collect()
        .await?;
    let done = outcomes.iter().filter(|is_sent| **is_sent).count() as u64;
    Ok(Round { done, failed: outcomes.len() as u64 - done, is_full })
}
