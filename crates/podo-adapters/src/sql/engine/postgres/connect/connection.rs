//! A connection with a deadline for every answer.
//!
//! A server that disappears silently (its host dies, its address moves, a NAT entry expires)
//! doesn't close its connections. So every request has a deadline. A connection that misses it is
//! closed, and so are the idle connections of the same pool, which lead to the same server. The
//! outcome of a commit without an answer is unknown: the caller gets a retryable error, and the
//! command's idempotency key finds the outcome on retry.

use crate::sql::engine::postgres::connect::pools::Manager;
use crate::sql::engine::postgres::transaction::explain;
use crate::sql::engine::tx::SqlError;
use deadpool::managed::{Metrics, Object};
use deadpool_postgres::ClientWrapper;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use tokio_postgres::{IsolationLevel, Row, Statement};

/// A connection idle for longer than this is checked before use.
const PROVEN_FOR: Duration = Duration::from_millis(500);

/// The timeout of that check.
const PROOF_WITHIN: Duration = Duration::from_secs(1);

/// The health of one pool's connections.
pub(crate) struct Health {
    deadline: Duration,
    /// Connections last taken from the pool before this moment are dead, or lead to a former
    /// primary.
    bad_before: Mutex<Option<Instant>>,
}

impl Health {
    pub(crate) fn new(deadline: Duration) -> Arc<Health> {
        Arc::new(Health { deadline, bad_before: Mutex::new(None) })
    }

    /// Whether a pooled connection can be used again.
    pub(crate) async fn check(&self, client: &ClientWrapper, metrics: &Metrics) -> bool {
        let used_at = metrics.recycled.unwrap_or(metrics.created);
        if self.bad_before().is_some_and(|bad_before| used_at < bad_before) {
            return false;
        }
        if used_at.elapsed() < PROVEN_FOR {
            return true;
        }
        match tokio::time::timeout(PROOF_WITHIN, client.check_connection()).await {
            Ok(answer) => answer.is_ok(),
            Err(_late) => {
                self.suspect_all("a connection that waited for use is silent");
                false
            }
        }
    }

    /// Marks every connection that is now in the pool as unusable.
    fn suspect_all(&self, why: &str) {
        tracing::warn!(why, "Reconnecting to the database");
        *self.bad_before() = Some(Instant::now());
    }

    fn bad_before(&self) -> MutexGuard<'_, Option<Instant>> {
        // An instant is consistent even if its writer panicked.
        self.bad_before.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Decides whether a connection may return to its pool.
struct Watch {
    health: Arc<Health>,
    is_lost: AtomicBool,
}

impl Watch {
    /// The answer, if it comes within the deadline.
    async fn within<T>(
        &self,
        deadline: Duration,
        sql: &str,
        answer: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T, SqlError> {
        match tokio::time::timeout(deadline, answer).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => {
                if error.code() == Some(&SqlState::READ_ONLY_SQL_TRANSACTION) {
                    self.lose("the server is not the primary any more");
                }
                Err(explain(&error, sql))
            }
            Err(_late) => {
                self.lose("a statement was not answered within the deadline");
                Err(SqlError::Unavailable(format!("no answer from the database in: {sql}")))
            }
        }
    }

    fn lose(&self, why: &str) {
        self.is_lost.store(true, Ordering::Relaxed);
        self.health.suspect_all(why);
    }
}

type Client = Object<Manager>;

/// A pooled connection. Dropping it returns it to the pool, unless it is lost.
pub(crate) struct Connection {
    client: Option<Client>,
    watch: Watch,
}

impl Connection {
    pub(crate) fn new(client: Client, health: Arc<Health>) -> Connection {
        let watch = Watch { health, is_lost: AtomicBool::new(false) };
        Connection { client: Some(client), watch }
    }

    /// The deadline for an answer.
    pub(crate) fn deadline(&self) -> Duration {
        self.watch.health.deadline
    }

    pub(crate) async fn begin(&mut self) -> Result<Transaction<'_>, SqlError> {
        let (client, watch) = self.parts();
        let deadline = watch.health.deadline;
        let inner = watch.within(deadline, "begin", client.transaction()).await?;
        Ok(Transaction { inner, watch, deadline })
    }

    /// A read-only transaction on one consistent snapshot.
    pub(crate) async fn begin_read_only(&mut self) -> Result<Transaction<'_>, SqlError> {
        let (client, watch) = self.parts();
        let begin = client.build_transaction().isolation_level(IsolationLevel::RepeatableRead);
        let deadline = watch.health.deadline;
        let inner = watch.within(deadline, "begin", begin.read_only(true).start()).await?;
        Ok(Transaction { inner, watch, deadline })
    }

    /// The only row of a query that needs no transaction.
    pub(crate) async fn query_one(
        &self,
        sql: &str,
        params: &[&(dyn ToSql + Sync)],
    ) -> Result<Row, SqlError> {
        let client = self.client();
        let ask = async {
            let statement = client.prepare_cached(sql).await?;
            client.query_one(&statement, params).await
        };
        self.watch.within(self.deadline(), sql, ask).await
    }

    pub(crate) async fn batch_execute(&self, sql: &str) -> Result<(), SqlError> {
        let run = self.client().batch_execute(sql);
        self.watch.within(self.deadline(), sql, run).await
    }

    fn client(&self) -> &Client {
        self.client.as_ref().expect("only `drop` takes the client")
    }

    fn parts(&mut self) -> (&mut Client, &Watch) {
        (self.client.as_mut().expect("only `drop` takes the client"), &self.watch)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let is_lost = self.watch.is_lost.load(Ordering::Relaxed);
        if let Some(client) = self.client.take()
            && is_lost
        {
            // Remove it from the pool; this closes the socket.
            drop(Client::take(client));
        }
    }
}

/// A transaction whose statements each have a deadline.
pub(crate) struct Transaction<'c> {
    inner: deadpool_postgres::Transaction<'c>,
    watch: &'c Watch,
    deadline: Duration,
}

impl Transaction<'_> {
    /// Extends the deadline of each statement that follows.
    pub(crate) fn extend_deadline(&mut self, by: Duration) {
        self.deadline += by;
    }

    pub(crate) async fn prepare(&self, sql: &str) -> Result<Statement, SqlError> {
        self.watch.within(self.deadline, sql, self.inner.prepare_cached(sql)).await
    }

    pub(crate) async fn execute(
        &self,
        statement: &Statement,
        params: &[&(dyn ToSql + Sync)],
        sql: &str,
    ) -> Result<u64, SqlError> {
        self.watch.within(self.deadline, sql, self.inner.execute(statement, params)).await
    }

    pub(crate) async fn query(
        &self,
        statement: &Statement,
        params: &[&(dyn ToSql + Sync)],
        sql: &str,
    ) -> Result<Vec<Row>, SqlError> {
        self.watch.within(self.deadline, sql, self.inner.query(statement, params)).await
    }

    pub(crate) async fn commit(self) -> Result<(), SqlError> {
        self.watch.within(self.deadline, "commit", self.inner.commit()).await
    }

    pub(crate) async fn rollback(self) -> Result<(), SqlError> {
        self.watch.within(self.deadline, "rollback", self.inner.rollback()).await
    }
}
