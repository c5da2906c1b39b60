//! Single flight for opening lost rooms: when thousands of requests find a room closed, one opens
//! it.

use podo_domain::ScheduleId;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// Schedules kept; dropping one costs at most one redundant opening.
const KEPT_MAX: usize = 10_000;

#[derive(Default)]
pub(crate) struct Opening {
    n_opened: AtomicU64,
    opening: tokio::sync::Mutex<()>,
}

impl Opening {
    pub(crate) fn n_opened(&self) -> u64 {
        self.n_opened.load(Ordering::Acquire)
    }

    /// Runs `open`, unless another caller has done so since `n_seen`, which the caller read before
    /// it found the room closed.
    pub(crate) async fn once<E>(
        &self,
        n_seen: u64,
        open: impl Future<Output = Result<(), E>>,
    ) -> Result<(), E> {
        let _guard = self.opening.lock().await;
        if self.n_opened() == n_seen {
            open.await?;
            self.n_opened.fetch_add(1, Ordering::Release);
        }
        Ok(())
    }
}

#[derive(Default)]
pub struct Openings {
    kept: Mutex<HashMap<ScheduleId, Arc<Opening>>>,
}

impl Openings {
    pub(crate) fn of(&self, schedule: ScheduleId) -> Arc<Opening> {
        let mut kept = self.kept.lock().expect("the lock is never poisoned");
        if kept.len() >= KEPT_MAX && !kept.contains_key(&schedule) {
            kept.clear();
        }
        kept.entry(schedule).or_default().clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::executor::block_on;
    use futures::future::join_all;
    use std::convert::Infallible;

    #[test]
    fn of_many_who_find_a_room_closed_one_opens_it() {
        let (opening, n_calls) = (Opening::default(), AtomicU64::new(0));
        let open = async || {
            n_calls.fetch_add(1, Ordering::SeqCst);
            Ok::<(), Infallible>(())
        };
        let n_seen = opening.n_opened();
        block_on(join_all((0..100).map(|_| opening.once(n_seen, open())))).len();
        assert_eq!(n_calls.load(Ordering::SeqCst), 1);
        block_on(opening.once(opening.n_opened(), open())).ok();
        assert_eq!(n_calls.load(Ordering::SeqCst), 2, "it was lost again");
    }
}
