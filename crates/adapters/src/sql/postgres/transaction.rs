//! A running transaction on PostgreSQL.

use super::send::send_each;
use super::types::{read, refer};
use crate::sql::tx::{Guard, SqlError, Tx};
use crate::sql::value::{Row, Value};
use app::points;
use app::ports::clock::Chance;
use deadpool_postgres::Transaction;
use futures::FutureExt;
use futures::future::BoxFuture;
use std::borrow::Cow;
use tokio_postgres::error::SqlState;
use uuid::Uuid;

pub(super) struct PostgresTx<'c> {
    pub(super) transaction: Transaction<'c>,
    pub(super) chance: &'c dyn Chance,
    pub(super) off: &'c [Guard],
}

impl PostgresTx<'_> {
    pub(super) async fn commit(self) -> app::Result<()> {
        points::reach(points::STORE_BEFORE_COMMIT);
        let committed = self.transaction.commit().await;
        points::reach(points::STORE_AFTER_COMMIT);
        committed.map_err(|error| explain(&error, "commit").into())
    }
}

/// Words that only PostgreSQL understands stand in the shared text as comments.
fn translate(sql: &'static str) -> Cow<'static, str> {
    if sql.contains("/* skip locked */") {
        return Cow::Owned(sql.replace("/* skip locked */", "for update skip locked"));
    }
    Cow::Borrowed(sql)
}

impl Tx for PostgresTx<'_> {
    fn execute<'t>(
        &'t mut self,
        sql: &'static str,
        params: &'t [Value],
    ) -> BoxFuture<'t, Result<u64, SqlError>> {
        async move {
            let run = async {
                let statement = self.transaction.prepare_cached(&translate(sql)).await?;
                self.transaction.execute(&statement, &refer(params, &statement)).await
            };
            run.await.map_err(|error| explain(&error, sql))
        }
        .boxed()
    }

    fn query<'t>(
        &'t mut self,
        sql: &'static str,
        params: &'t [Value],
    ) -> BoxFuture<'t, Result<Vec<Row>, SqlError>> {
        async move {
            let run = async {
                let statement = self.transaction.prepare_cached(&translate(sql)).await?;
                self.transaction.query(&statement, &refer(params, &statement)).await
            };
            let rows = run.await.map_err(|error| explain(&error, sql))?;
            rows.iter().map(read).collect()
        }
        .boxed()
    }

    fn follow_indexes(&mut self) -> BoxFuture<'_, Result<(), SqlError>> {
        let sql = "select set_config('enable_bitmapscan', 'off', true),
                          set_config('enable_seqscan', 'off', true),
                          set_config('enable_hashjoin', 'off', true),
                          set_config('enable_mergejoin', 'off', true)";
        async move { self.query(sql, &[]).await.map(drop) }.boxed()
    }

    /// With memory for tables that would otherwise be sorted on the disk.
    fn take_time(&mut self) -> BoxFuture<'_, Result<(), SqlError>> {
        let sql = "select set_config('statement_timeout', '5min', true),
                          set_config('work_mem', '128MB', true)";
        async move { self.query(sql, &[]).await.map(drop) }.boxed()
    }

    fn query_each<'t>(
        &'t mut self,
        sql: &'static str,
        sets: Vec<Vec<Value>>,
    ) -> BoxFuture<'t, Result<Vec<Vec<Row>>, SqlError>> {
        async move {
            let found = send_each(&self.transaction, &translate(sql), &sets, true).await?;
            Ok(found.into_iter().map(|found| found.rows).collect())
        }
        .boxed()
    }

    fn execute_each<'t>(
        &'t mut self,
        sql: &'static str,
        sets: Vec<Vec<Value>>,
    ) -> BoxFuture<'t, Result<Vec<u64>, SqlError>> {
        async move {
            let found = send_each(&self.transaction, &translate(sql), &sets, true).await?;
            Ok(found.into_iter().map(|found| found.n_changed).collect())
        }
        .boxed()
    }

    fn add<'t>(
        &'t mut self,
        sql: &'static str,
        sets: Vec<Vec<Value>>,
    ) -> BoxFuture<'t, Result<(), SqlError>> {
        async move { send_each(&self.transaction, sql, &sets, false).await.map(drop) }.boxed()
    }

    /// Others who lock the same thing wait until this transaction ends.
    fn lock<'t>(&'t mut self, what: Uuid) -> BoxFuture<'t, Result<(), SqlError>> {
        async move {
            let key = Value::Int(lock_key(what));
            let sql = "select pg_advisory_xact_lock($1)";
            let run = async {
                let statement = self.transaction.prepare_cached(sql).await?;
                self.transaction.execute(&statement, &refer(&[key], &statement)).await
            };
            run.await.map(drop).map_err(|error| explain(&error, sql))
        }
        .boxed()
    }

    fn chance(&self) -> &dyn Chance {
        self.chance
    }

    fn has(&self, guard: Guard) -> bool {
        !self.off.contains(&guard)
    }
}

/// The number by which the server knows a lock.
pub(super) fn lock_key(what: Uuid) -> i64 {
    let (high, low) = what.as_u64_pair();
    (high ^ low).cast_signed()
}

/// What the caller may do about a complaint.
pub(super) fn explain(error: &tokio_postgres::Error, sql: &str) -> SqlError {
    let Some(complaint) = error.as_db_error() else {
        return match error.is_closed() {
            true => SqlError::Unavailable(error.to_string()),
            false => SqlError::Unavailable(format!("{error} in: {sql}")),
        };
    };
    let is = |state: &SqlState| complaint.code() == state;
    if is(&SqlState::UNIQUE_VIOLATION) || is(&SqlState::CHECK_VIOLATION) {
        return SqlError::Constraint(complaint.constraint().unwrap_or_default().to_owned());
    }
    let was_outrun = [
        SqlState::T_R_SERIALIZATION_FAILURE,
        SqlState::T_R_DEADLOCK_DETECTED,
        SqlState::LOCK_NOT_AVAILABLE,
    ];
    if was_outrun.iter().any(is) {
        return SqlError::Conflict(complaint.message().to_owned());
    }
    let is_away = [
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::CANNOT_CONNECT_NOW,
        SqlState::TOO_MANY_CONNECTIONS,
        SqlState::QUERY_CANCELED,
        SqlState::DISK_FULL,
        SqlState::READ_ONLY_SQL_TRANSACTION,
    ];
    match is_away.iter().any(is) {
        true => SqlError::Unavailable(complaint.message().to_owned()),
        false => SqlError::Broken(format!("{complaint} in: {sql}")),
    }
}
