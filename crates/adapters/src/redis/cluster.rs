//! A connection to a cluster that is opened anew when nothing comes of it any more.
//!
//! The client of redis-rs 1.8 can lock itself up while it looks for a new master: what waits for
//! its lock is not polled while it refreshes the slots, and the refresh waits for the same lock
//! (its issue 2418 is about one such pair). From then on every call times out, for ever.

use redis::RedisResult;
use redis::cluster::ClusterClient;
use redis::cluster_async::ClusterConnection;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// When no call has succeeded for this long, the connection is not worth waiting for. Calls
/// that fail have waited before they did.
const SILENT_MAX: Duration = Duration::from_secs(2);

pub(super) struct Cluster {
    client: ClusterClient,
    state: Mutex<State>,
}

struct State {
    connection: ClusterConnection,
    /// Since when calls fail, if the last one did.
    failing_since: Option<Instant>,
    is_renewing: bool,
}

impl Cluster {
    pub(super) async fn open(client: ClusterClient) -> RedisResult<Arc<Cluster>> {
        let connection = client.get_async_connection().await?;
        let state = State { connection, failing_since: None, is_renewing: false };
        Ok(Arc::new(Cluster { client, state: Mutex::new(state) }))
    }

    pub(super) fn connection(&self) -> ClusterConnection {
        self.state().connection.clone()
    }

    /// Hears how a call went.
    pub(super) fn note(self: &Arc<Cluster>, is_answered: bool) {
        let mut state = self.state();
        if is_answered {
            state.failing_since = None;
            return;
        }
        let since = *state.failing_since.get_or_insert_with(Instant::now);
        if since.elapsed() < SILENT_MAX || state.is_renewing {
            return;
        }
        state.is_renewing = true;
        drop(state);
        tokio::spawn(self.clone().renew());
    }

    async fn renew(self: Arc<Cluster>) {
        let renewed = self.client.get_async_connection().await;
        let mut state = self.state();
        state.is_renewing = false;
        state.failing_since = None;
        match renewed {
            Ok(connection) => {
                state.connection = connection;
                tracing::warn!("Redis Cluster answered nothing; connected anew");
            }
            Err(error) => tracing::warn!(%error, "Redis Cluster cannot be reached"),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nothing panics under this lock")
    }
}
