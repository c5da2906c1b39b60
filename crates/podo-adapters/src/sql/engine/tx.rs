//! One transaction on either engine: SQL text with `$1` parameters in, counts and rows out.

use crate::sql::engine::database_role::DatabaseRole;
use crate::sql::engine::value::{Row, Value};
use futures::future::BoxFuture;
use podo_app::Error;
use podo_app::operations::port::clock::Rng;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use uuid::Uuid;

/// Engine errors, by what the caller can do about them.
#[derive(Debug)]
pub enum SqlError {
    /// A named constraint was violated.
    Constraint(String),
    /// A concurrent command changed the same rows.
    Conflict(String),
    /// The engine is busy, unreachable or full; a retry may work.
    Unavailable(String),
    Broken(String),
}

impl SqlError {
    pub fn is_constraint(&self, name: &str) -> bool {
        matches!(self, SqlError::Constraint(broken) if broken == name)
    }
}

impl From<SqlError> for Error {
    fn from(error: SqlError) -> Error {
        match error {
            // The caller expected no violation here, so a concurrent command inserted the row.
            SqlError::Constraint(name) => Error::Conflict(format!("constraint {name}")),
            SqlError::Conflict(what) => Error::Conflict(what),
            SqlError::Unavailable(what) => Error::Unavailable(what),
            SqlError::Broken(what) => Error::Broken(what),
        }
    }
}

/// What all transactions of one store share.
pub(crate) struct StoreContext {
    /// The source of ids and secrets created inside a transaction.
    pub(crate) rng: Arc<dyn Rng>,
    n_messages: AtomicU64,
}

impl StoreContext {
    pub(crate) fn new(rng: Arc<dyn Rng>) -> StoreContext {
        StoreContext { rng, n_messages: AtomicU64::new(0) }
    }

    /// How many messages the store has written or reactivated. Compare before and after a command:
    /// a command that wrote a message always changes it, though another command may have changed it
    /// too.
    pub(crate) fn n_messages(&self) -> u64 {
        self.n_messages.load(Ordering::SeqCst)
    }

    /// Records that a transaction leaves something to publish.
    pub(crate) fn count_message(&self) {
        self.n_messages.fetch_add(1, Ordering::SeqCst);
    }
}

/// A running transaction. SQLite's futures are ready at once; PostgreSQL's wait for the network.
pub(crate) trait Tx: Send {
    /// Runs a statement and returns the number of changed rows.
    fn execute<'t>(
        &'t mut self,
        sql: &'static str,
        params: &'t [Value],
    ) -> BoxFuture<'t, Result<u64, SqlError>>;

    fn query<'t>(
        &'t mut self,
        sql: &'static str,
        params: &'t [Value],
    ) -> BoxFuture<'t, Result<Vec<Row>, SqlError>>;

    /// Runs the query with each set of parameters. Returns the rows of each, in order.
    fn query_each<'t>(
        &'t mut self,
        sql: &'static str,
        sets: Vec<Vec<Value>>,
    ) -> BoxFuture<'t, Result<Vec<Vec<Row>>, SqlError>> {
        Box::pin(async move {
            let mut found = Vec::with_capacity(sets.len());
            for set in &sets {
                found.push(self.query(sql, set).await?);
            }
            Ok(found)
        })
    }

    /// Runs the statement with each set of parameters. Returns the number of rows that each
    /// changed.
    fn execute_each<'t>(
        &'t mut self,
        sql: &'static str,
        sets: Vec<Vec<Value>>,
    ) -> BoxFuture<'t, Result<Vec<u64>, SqlError>> {
        Box::pin(async move {
            let mut changed = Vec::with_capacity(sets.len());
            for set in &sets {
                changed.push(self.execute(sql, set).await?);
            }
            Ok(changed)
        })
    }

    /// Inserts or changes rows whose count the caller doesn't need, so an engine may send it along
    /// with the next statement. A late error fails the whole command.
    fn add<'t>(
        &'t mut self,
        sql: &'static str,
        sets: Vec<Vec<Value>>,
    ) -> BoxFuture<'t, Result<(), SqlError>> {
        Box::pin(async move { self.execute_each(sql, sets).await.map(drop) })
    }

    /// Changes one row with each set of parameters. If a row no longer matches what the command
    /// read, a concurrent command changed it, and this one fails: here, or later on an engine that
    /// sends it along with the next statement.
    fn change<'t>(
        &'t mut self,
        sql: &'static str,
        sets: Vec<Vec<Value>>,
    ) -> BoxFuture<'t, Result<(), SqlError>> {
        Box::pin(async move {
            let changed = self.execute_each(sql, sets).await?;
            match changed.iter().all(|n_changed| *n_changed == 1) {
                true => Ok(()),
                false => Err(SqlError::Conflict(format!(
                    "a concurrent command changed the row of: {sql}"
                ))),
            }
        })
    }

    /// Blocks other transactions that lock the same key until this one ends. A no-op on an engine
    /// that runs one command at a time.
    fn lock<'t>(&'t mut self, _what: Uuid) -> BoxFuture<'t, Result<(), SqlError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Makes the planner prefer indexes for the rest of the transaction, even if its statistics of
    /// a fast-changing table are stale.
    fn follow_indexes(&mut self) -> BoxFuture<'_, Result<(), SqlError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Raises the time limit for the rest of the transaction, which scans whole tables.
    fn take_time(&mut self) -> BoxFuture<'_, Result<(), SqlError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn context(&self) -> &StoreContext;
}

impl dyn Tx + '_ {
    pub(crate) fn rng(&self) -> &dyn Rng {
        &*self.context().rng
    }

    /// The first row, if there is one.
    pub(crate) async fn row(
        &mut self,
        sql: &'static str,
        params: &[Value],
    ) -> Result<Option<Row>, SqlError> {
        Ok(self.query(sql, params).await?.into_iter().next())
    }
}

/// One command or query. It runs in one transaction, which a refusal or an error rolls back. An
/// engine may run it again after a conflict.
pub(crate) trait Command: Send + Sync + 'static {
    type Output: Send + 'static;

    /// The database role that it runs in.
    const ROLE: DatabaseRole;

    /// Whether a replica may answer, because nothing is decided by the answer.
    const REPLICAS_MAY_ANSWER: bool;

    fn run<'t>(&'t self, tx: &'t mut dyn Tx) -> BoxFuture<'t, podo_app::Result<Self::Output>>;
}
