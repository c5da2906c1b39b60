//! A connection that is opened anew when nothing comes of it any more.
//!
//! redis-rs 1.8 gives a connection up when it is closed, and not when it is silent: a call that was
//! not answered fails alone, and the next goes the same way. A server that is gone without a word
//! would be waited for until the kernel notices. A cluster's client may also lock itself up after a
//! master was replaced: by its source, what waits for its lock is not polled while it refreshes the
//! slots, and the refresh waits for the same lock (its issue 2418 is about one such pair).

use super::link::{Link, Opener};
use redis::RedisResult;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// When calls have gone without an answer for this long, the connection is not worth waiting for.
/// Calls that fail have waited before they did.
const SILENT_MAX: Duration = Duration::from_secs(2);

/// Calls without an answer that are further apart have nothing to do with each other.
const APART: Duration = Duration::from_secs(10);

const RENEW_WITHIN: Duration = Duration::from_secs(5);

/// How a call went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Answered,
    /// Somebody answered, or closed the connection: the client knows what to do.
    Failed,
    Silent,
}

pub(super) struct Renewal {
    opener: Opener,
    state: Mutex<State>,
    /// Held by the one caller who connects anew.
    renewing: tokio::sync::Mutex<()>,
}

struct State {
    link: Link,
    troubles: Troubles,
}

impl Renewal {
    pub(super) async fn open(opener: Opener) -> RedisResult<Arc<Renewal>> {
        let link = opener.open().await?;
        let state = Mutex::new(State { link, troubles: Troubles::default() });
        Ok(Arc::new(Renewal { opener, state, renewing: tokio::sync::Mutex::default() }))
    }

    pub(super) fn link(&self) -> Link {
        self.state().link.clone()
    }

    /// Hears how a call went. The caller who finds that nothing works any more connects anew; the
    /// others go on.
    pub(super) async fn note(&self, outcome: Outcome) {
        if !self.state().troubles.note(outcome, Instant::now()) {
            return;
        }
        let Ok(_turn) = self.renewing.try_lock() else { return };
        match tokio::time::timeout(RENEW_WITHIN, self.opener.open()).await {
            Ok(Ok(link)) => {
                *self.state() = State { link, troubles: Troubles::default() };
                tracing::warn!("Redis did not answer; connected anew");
            }
            Ok(Err(error)) => tracing::warn!(%error, "Redis cannot be reached"),
            Err(late) => tracing::warn!(%late, "Redis cannot be reached in time"),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nothing panics under this lock")
    }
}

/// Since when calls fail, and since when they go without an answer. One node of a cluster may be
/// silent while others answer: their answers say nothing about it.
#[derive(Debug, Default)]
struct Troubles {
    failing_since: Option<Instant>,
    silent_since: Option<Instant>,
    last_silence: Option<Instant>,
}

impl Troubles {
    /// Whether the connection should be opened anew.
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

    fn told(calls: &[(Outcome, u64)]) -> Vec<bool> {
        let (start, mut troubles) = (Instant::now(), Troubles::default());
        calls
            .iter()
            .map(|(outcome, second)| troubles.note(*outcome, start + Duration::from_secs(*second)))
            .collect()
    }

    #[test]
    fn a_connection_is_opened_anew_when_nothing_works_for_a_while() {
        use Outcome::{Answered, Failed, Silent};
        assert_eq!(told(&[(Failed, 0), (Failed, 1), (Failed, 2)]), [false, false, true]);
        assert_eq!(told(&[(Failed, 0), (Answered, 1), (Failed, 2)]), [false; 3]);
        assert_eq!(told(&[(Silent, 1), (Silent, 2), (Silent, 3)]), [false, false, true]);
    }

    #[test]
    fn a_silent_node_is_noticed_among_nodes_that_answer() {
        use Outcome::{Answered, Silent};
        let calls = [(Silent, 1), (Answered, 1), (Silent, 2), (Answered, 2), (Silent, 3)];
        assert_eq!(told(&calls), [false, false, false, false, true]);
        let apart = [(Silent, 1), (Answered, 1), (Silent, 20), (Answered, 20), (Silent, 21)];
        assert_eq!(told(&apart), [false; 5]);
    }
}
