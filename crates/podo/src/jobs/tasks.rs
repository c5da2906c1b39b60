//! Work that outlives a request. The loops are in `jobs.rs` and `workers.rs`.

use std::time::Duration;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Everything that runs beside the accept loop. Shutdown waits for all of it.
#[derive(Clone, Default)]
pub struct Tasks {
    tracker: TaskTracker,
    stop: CancellationToken,
}

impl Tasks {
    /// Spawns work that continues even if its caller stops waiting.
    pub fn spawn<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> JoinHandle<T> {
        self.tracker.spawn(work)
    }

    /// Like `spawn`, but callable after the runtime has ended; the work is then dropped.
    pub fn spawn_unless_over(&self, work: impl Future<Output: Send + 'static> + Send + 'static) {
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            drop(self.tracker.spawn_on(work, &runtime));
        }
    }

    /// Tasks that shutdown waits for as well, but that stop only when told.
    pub fn outliving(&self) -> Tasks {
        Tasks { tracker: self.tracker.clone(), stop: CancellationToken::new() }
    }

    /// Resolves at shutdown.
    pub async fn stopped(&self) {
        self.stop.cancelled().await;
    }

    pub fn is_stopping(&self) -> bool {
        self.stop.is_cancelled()
    }

    /// Stops the loops. Requests in flight continue.
    pub fn stop(&self) {
        self.stop.cancel();
    }

    /// Sleeps; ends early at shutdown.
    pub async fn pause(&self, length: Duration) {
        tokio::select! {
            () = tokio::time::sleep(length) => {}
            () = self.stopped() => {}
        }
    }

    /// Waits at most `patience` for all spawned work.
    pub async fn finish(&self, patience: Duration) -> bool {
        self.tracker.close();
        tokio::time::timeout(patience, self.tracker.wait()).await.is_ok()
    }
}
