//! A connection to a cluster that is opened anew when nothing comes of it any more.
//!
//! With redis-rs 1.8 every call may go on timing out after a master was replaced. By its source,
//! the client locks itself up: what waits for its lock is not polled while it refreshes the slots,
//! and the refresh waits for the same lock (its issue 2418 is about one such pair).

use redis::RedisResult;
use redis::cluster::ClusterClient;
use redis::cluster_async::ClusterConnection;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// When no call has succeeded for this long, the connection is not worth waiting for. Calls
/// that fail have waited before they did.
const SILENT_MAX: Duration = Duration::from_secs(2);

const RENEW_WITHIN: Duration = Duration::from_secs(5);

pub(super) struct Cluster {
    client: ClusterClient,
    state: Mutex<State>,
    /// Held by the one caller who connects anew.
    renewing: tokio::sync::Mutex<()>,
}

struct State {
    connection: ClusterConnection,
    /// Since when calls fail, if the last one did.
    failing_since: Option<Instant>,
}

impl Cluster {
    pub(super) async fn open(client: ClusterClient) -> RedisResult<Arc<Cluster>> {
        let connection = client.get_async_connection().await?;
        let state = Mutex::new(State { connection, failing_since: None });
        Ok(Arc::new(Cluster { client, state, renewing: tokio::sync::Mutex::default() }))
    }

    pub(super) fn connection(&self) -> ClusterConnection {
        self.state().connection.clone()
    }

    /// Hears how a call went. The caller who finds that nothing works any more connects anew; the
    /// others go on.
    pub(super) async fn note(&self, is_answered: bool) {
        if self.is_worth_waiting_for(is_answered) {
            return;
        }
        let Ok(_turn) = self.renewing.try_lock() else { return };
        let renewing = tokio::time::timeout(RENEW_WITHIN, self.client.get_async_connection());
        match renewing.await {
            Ok(Ok(connection)) => {
                *self.state() = State { connection, failing_since: None };
                tracing::warn!("Redis Cluster answered nothing; connected anew");
            }
            Ok(Err(error)) => tracing::warn!(%error, "Redis Cluster cannot be reached"),
            Err(late) => tracing::warn!(%late, "Redis Cluster cannot be reached in time"),
        }
    }

    fn is_worth_waiting_for(&self, is_answered: bool) -> bool {
        let mut state = self.state();
        if is_answered {
            state.failing_since = None;
            return true;
        }
        state.failing_since.get_or_insert_with(Instant::now).elapsed() < SILENT_MAX
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nothing panics under this lock")
    }
}
