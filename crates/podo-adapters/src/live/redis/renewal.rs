//! Reconnects when a connection no longer gets answers.
//!
//! redis-rs 1.8 gives up a connection that is closed, but not one that is silent: a call without an
//! answer fails alone, and the next uses the same connection. Without this, callers would wait for
//! a silently dead server until the kernel notices. A cluster client may also deadlock after a
//! failover: by its source, callers that wait for its lock aren't polled while it refreshes the
//! slots, and the refresh waits for the same lock (its issue 2418 is about one such pair).

use crate::live::redis::link::{Link, Opener};
use redis::RedisResult;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// Reconnect once calls have gone unanswered for this long. A failed call has already waited for
/// its timeout.
const SILENT_MAX: Duration = Duration::from_secs(2);

/// Unanswered calls further apart than this are unrelated.
const APART: Duration = Duration::from_secs(10);

const RENEW_WITHIN: Duration = Duration::from_secs(5);

/// The result of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Answered,
    /// The server answered with an error or closed the connection; the client handles it.
    Failed,
    Silent,
}

pub(crate) struct Renewal {
    opener: Opener,
    state: Mutex<State>,
    /// Held by the one caller that reconnects.
    renewing: tokio::sync::Mutex<()>,
}

struct State {
    link: Link,
    troubles: Troubles,
}

impl Renewal {
    pub(crate) async fn open(opener: Opener) -> RedisResult<Arc<Renewal>> {
        let link = opener.open().await?;
        let state = Mutex::new(State { link, troubles: Troubles::default() });
        Ok(Arc::new(Renewal { opener, state, renewing: tokio::sync::Mutex::default() }))
    }

    pub(crate) fn link(&self) -> Link {
        self.state().link.clone()
    }

    /// Records the result of a call. The caller that finds the connection dead reconnects; the
    /// others continue.
    pub(crate) async fn note(&self, outcome: Outcome) {
        if !self.state().troubles.note(outcome, Instant::now()) {
            return;
        }
        let Ok(_turn) = self.renewing.try_lock() else { return };
        match tokio::time::timeout(RENEW_WITHIN, self.opener.open()).await {
            Ok(Ok(link)) => {
                *self.state() = State { link, troubles: Troubles::default() };
                tracing::warn!("Redis did not answer; reconnected");
            }
            Ok(Err(error)) => tracing::warn!(%error, "Redis unreachable"),
            Err(late) => tracing::warn!(%late, "Redis unreachable: connecting timed out"),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("the lock is never poisoned")
    }
}

/// Since when calls fail, and since when they go unanswered. One node of a cluster may be silent
/// while others answer, so their answers don't reset it.
#[derive(Debug, Default)]
struct Troubles {
    failing_since: Option<Instant>,
    silent_since: Option<Instant>,
    last_silence: Option<Instant>,
}

impl Troubles {
    /// Whether to reconnect.
    fn note(&mut self, outcome: Outcome, now: Instant) -> bool {
        match outcome {
            Outcome::Answered => {
                self.failing_since = None;
                return false;
            }
            Outcome::Failed => {}
            Outcome::Silent => {
                if self.last_silence.is_none_or(|last| APART <= now - last) {
                    self.silent_since = Some(now);
                }
                self.last_silence = Some(now);
            }
        }
        let failing_since = *self.failing_since.get_or_insert(now);
        let is_silent = outcome == Outcome::Silent;
        let silent_since = self.silent_since.filter(|_| is_silent).unwrap_or(now);
        SILENT_MAX <= now - failing_since || SILENT_MAX <= now - silent_since
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdicts(calls: &[(Outcome, u64)]) -> Vec<bool> {
        let (start, mut troubles) = (Instant::now(), Troubles::default());
        calls
            .iter()
            .map(|(outcome, second)| troubles.note(*outcome, start + Duration::from_secs(*second)))
            .collect()
    }

    #[test]
    fn a_connection_is_opened_anew_when_nothing_works_for_a_while() {
        use Outcome::{Answered, Failed, Silent};
        assert_eq!(verdicts(&[(Failed, 0), (Failed, 1), (Failed, 2)]), [false, false, true]);
        assert_eq!(verdicts(&[(Failed, 0), (Answered, 1), (Failed, 2)]), [false; 3]);
        assert_eq!(verdicts(&[(Silent, 1), (Silent, 2), (Silent, 3)]), [false, false, true]);
    }

    #[test]
    fn a_silent_node_is_noticed_among_nodes_that_answer() {
        use Outcome::{Answered, Silent};
        let calls = [(Silent, 1), (Answered, 1), (Silent, 2), (Answered, 2), (Silent, 3)];
        assert_eq!(verdicts(&calls), [false, false, false, false, true]);
        let apart = [(Silent, 1), (Answered, 1), (Silent, 20), (Answered, 20), (Silent, 21)];
        assert_eq!(verdicts(&apart), [false; 5]);
    }
}
