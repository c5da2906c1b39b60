//! A connection that never makes anybody wait for ever.
//!
//! A server that is gone without a word (its host died, its address moved, a NAT forgot us) sends no
//! end of the connection either. So whatever is asked has to be answered within the deadline; a
//! connection on which it was not is closed, and so are its idle neighbours, which lead to the same
//! place. What became of a commit without an answer is not known: its caller is told to try again,
//! and the idempotency key of a command finds out.

use super::pools::Manager;
use super::transaction::explain;
use crate::sql::tx::SqlError;
use deadpool::managed::{Metrics, Object};
use deadpool_postgres::ClientWrapper;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use tokio_postgres::{IsolationLevel, Row, Statement};

/// A connection that was last used longer ago is asked whether it is still there.
const PROVEN_FOR: Duration = Duration::from_millis(500);

/// How long it may take to say so.
const PROOF_WITHIN: Duration = Duration::from_secs(1);

/// What is known about the connections of one pool.
pub(super) struct Health {
    deadline: Duration,
    /// Connections that were taken out of the pool before this moment lead nowhere, or to a server
    /// that is not the primary any more.
    bad_before: Mutex<Option<Instant>>,
}

impl Health {
    pub(super) fn new(deadline: Duration) -> Arc<Health> {
        Arc::new(Health { deadline, bad_before: Mutex::new(None) })
    }

    /// Whether a connection that waits in the pool may be used again.
    pub(super) async fn check(&self, client: &ClientWrapper, metrics: &Metrics) -> bool {
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

    /// Nothing that was connected until now is used again.
    fn suspect_all(&self, why: &str) {
        tracing::warn!(why, "Connecting to the database anew");
        *self.bad_before() = Some(Instant::now());
    }

    fn bad_before(&self) -> MutexGuard<'_, Option<Instant>> {
        // An instant is whole even if its writer panicked.
        self.bad_before.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Says whether a connection may go back to its pool.
struct Watch {
    health: Arc<Health>,
    is_lost: AtomicBool,
}

impl Watch {
    /// The answer, if it comes in time.
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

/// A connection out of a pool. It goes back when it is dropped, unless it is lost.
pub(super) struct Connection {
    client: Option<Client>,
    watch: Watch,
}

impl Connection {
    pub(super) fn new(client: Client, health: Arc<Health>) -> Connection {
        let watch = Watch { health, is_lost: AtomicBool::new(false) };
        Connection { client: Some(client), watch }
    }

    /// How long an answer may take.
    pub(super) fn deadline(&self) -> Duration {
        self.watch.health.deadline
    }

    pub(super) async fn begin(&mut self) -> Result<Transaction<'_>, SqlError> {
        let (client, watch) = self.parts();
        let deadline = watch.health.deadline;
        let inner = watch.within(deadline, "begin", client.transaction()).await?;
        Ok(Transaction { inner, watch, deadline })
    }

    /// A transaction that sees one consistent view and changes nothing.
    pub(super) async fn begin_read_only(&mut self) -> Result<Transaction<'_>, SqlError> {
        let (client, watch) = self.parts();
        let begin = client.build_transaction().isolation_level(IsolationLevel::RepeatableRead);
        let deadline = watch.health.deadline;
        let inner = watch.within(deadline, "begin", begin.read_only(true).start()).await?;
        Ok(Transaction { inner, watch, deadline })
    }

    /// The only row of a question that needs no transaction.
    pub(super) async fn query_one(
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

    pub(super) async fn batch_execute(&self, sql: &str) -> Result<(), SqlError> {
        let run = self.client().batch_execute(sql);
        self.watch.within(self.deadline(), sql, run).await
    }

    fn client(&self) -> &Client {
        self.client.as_ref().expect("only dropping it takes it away")
    }

    fn parts(&mut self) -> (&mut Client, &Watch) {
        (self.client.as_mut().expect("only dropping it takes it away"), &self.watch)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let is_lost = self.watch.is_lost.load(Ordering::Relaxed);
        if let Some(client) = self.client.take()
            && is_lost
        {
            // Out of the pool; the socket is closed with it.
            drop(Client::take(client));
        }
    }
}

/// A transaction each of whose statements is answered within the deadline.
pub(super) struct Transaction<'c> {
    inner: deadpool_postgres::Transaction<'c>,
    watch: &'c Watch,
    deadline: Duration,
}

impl Transaction<'_> {
    /// Gives each statement that follows this much longer.
    pub(super) fn extend_deadline(&mut self, by: Duration) {
        self.deadline += by;
    }

    pub(super) async fn prepare(&self, sql: &str) -> Result<Statement, SqlError> {
        self.watch.within(self.deadline, sql, self.inner.prepare_cached(sql)).await
    }

    pub(super) async fn execute(
        &self,
        statement: &Statement,
        params: &[&(dyn ToSql + Sync)],
        sql: &str,
    ) -> Result<u64, SqlError> {
        self.watch.within(self.deadline, sql, self.inner.execute(statement, params)).await
    }

    pub(super) async fn query(
        &self,
        statement: &Statement,
        params: &[&(dyn ToSql + Sync)],
        sql: &str,
    ) -> Result<Vec<Row>, SqlError> {
        self.watch.within(self.deadline, sql, self.inner.query(statement, params)).await
    }

    pub(super) async fn commit(self) -> Result<(), SqlError> {
        self.watch.within(self.deadline, "commit", self.inner.commit()).await
    }

    pub(super) async fn rollback(self) -> Result<(), SqlError> {
        self.watch.within(self.deadline, "rollback", self.inner.rollback()).await
    }
}
