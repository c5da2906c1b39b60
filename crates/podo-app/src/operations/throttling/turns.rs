//! Files of tickets and pictures are made in turns, on threads for blocking work and within a time,
//! so that many requests for them can't take the processor from the sale.

use crate::error::{Error, Result};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

/// How long a request waits for its turn and its file.
const MADE_WITHIN: Duration = Duration::from_secs(10);

/// The turns of one kind of file in this process.
#[derive(Clone)]
pub struct Turns {
    free: Arc<Semaphore>,
    made_within: Duration,
}

impl Turns {
    pub fn new(made_at_once: usize) -> Turns {
        Turns { free: Arc::new(Semaphore::new(made_at_once)), made_within: MADE_WITHIN }
    }

    pub async fn take<T: Send + 'static>(
        &self,
        make: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let turns = self.free.clone();
        let making = async move {
            let turn = turns.acquire_owned().await.map_err(Error::broken)?;
            let make = move || {
                let _turn = turn;
                make()
            };
            tokio::task::spawn_blocking(make).await.map_err(Error::broken)?
        };
        let made = tokio::time::timeout(self.made_within, making).await;
        made.map_err(|_late| Error::Unavailable("files are made too slowly".into()))?
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::future::join_all;
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::channel;

    #[tokio::test(flavor = "multi_thread")]
    async fn as_many_files_are_made_at_once_as_there_are_turns() {
        let turns = Turns::new(2);
        let (n_running, n_most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        // Each waits for another one, so two must run together.
        let pair = Arc::new(Barrier::new(2));
        let make = |_| {
            let (n_running, n_most, pair) = (n_running.clone(), n_most.clone(), pair.clone());
            turns.take(move || {
                let n = n_running.fetch_add(1, Ordering::SeqCst) + 1;
                n_most.fetch_max(n, Ordering::SeqCst);
                pair.wait();
                n_running.fetch_sub(1, Ordering::SeqCst);
                Ok(())
            })
        };
        let made = join_all((0..8).map(make)).await;
        assert!(made.iter().all(Result::is_ok), "{made:?}");
        assert_eq!(n_most.load(Ordering::SeqCst), 2);
    }

    /// A thread can't be stopped, so a file that takes too long keeps its turn until it is made.
    #[tokio::test(flavor = "multi_thread")]
    async fn a_file_that_is_not_made_in_time_is_refused_and_keeps_its_turn_until_its_end() {
        let turns = Turns { made_within: Duration::from_millis(100), ..Turns::new(1) };
        let (finish, finished) = channel::<()>();
        let slow = turns.take(move || {
            finished.recv().expect("the test is still running");
            Ok(())
        });
        assert!(matches!(slow.await, Err(Error::Unavailable(_))));
        let waits = turns.take(|| Ok(())).await;
        assert!(matches!(waits, Err(Error::Unavailable(_))), "the slow one has the turn");
        finish.send(()).unwrap();
        let patient = Turns { made_within: MADE_WITHIN, ..turns };
        patient.take(|| Ok(())).await.unwrap();
    }
}
