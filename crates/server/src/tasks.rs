//! Work that outlives a request. The loops are in `jobs.rs` and `workers.rs`.

use std::time::Duration;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Everything that runs besides the accept loop. Shutdown waits for all of it.
#[derive(Clone, Default)]
pub struct Tasks {
    tracker: TaskTracker,
    stop: CancellationToken,
}

impl Tasks {
    /// Starts work that goes on even when nobody waits for it any more.
    pub fn spawn<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> JoinHandle<T> {
        self.tracker.spawn(work)
    }

    /// The same from a place that may be left when the runtime has ended; then nothing goes on.
    pub fn spawn_unless_over(&self, work: impl Future<Output: Send + 'static> + Send + 'static) {
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            drop(self.tracker.spawn_on(work, &runtime));
        }
    }

    /// Resolves when it is time to stop.
    pub async fn stopped(&self) {
        self.stop.cancelled().await;
    }

    pub fn is_stopping(&self) -> bool {
        self.stop.is_cancelled()
    }

    /// Tells the loops to stop. Running requests go on.
    pub fn stop(&self) {
        self.stop.cancel();
    }

    /// A pause that ends early when it is time to stop.
    pub async fn pause(&self, length: Duration) {
        tokio::select! {
            () = tokio::time::sleep(length) => {}
            () = self.stopped() => {}
        }
    }

    /// Waits for everything that was started, at most `patience`.
    pub async fn finish(&self, patience: Duration) -> bool {
        self.tracker.close();
        tokio::time::timeout(patience, self.tracker.wait()).await.is_ok()
    }
}
