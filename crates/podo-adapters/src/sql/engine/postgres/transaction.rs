//! A running transaction on PostgreSQL.

use crate::sql::engine::postgres::batch::send::send_each;
use crate::sql::engine::postgres::connect::connection::Transaction;
use crate::sql::engine::postgres::types::{read_all, refer};
use crate::sql::engine::tx::{SqlError, StoreContext, Tx};
use crate::sql::engine::value::{Row, Value};
use futures::FutureExt;
use futures::future::BoxFuture;
use podo_app::operations::failpoints;
use std::borrow::Cow;
use std::time::Duration;
use tokio_postgres::error::SqlState;
use uuid::Uuid;

pub(crate) struct PostgresTx<'c> {
    pub(crate) transaction: Transaction<'c>,
    pub(crate) context: &'c StoreContext,
}

impl PostgresTx<'_> {
    pub(crate) async fn commit(self) -> podo_app::Result<()> {
        failpoints::reach(failpoints::STORE_BEFORE_COMMIT);
        let committed = self.transaction.commit().await;
        failpoints::reach(failpoints::STORE_AFTER_COMMIT);
        Ok(committed?)
    }
}

/// PostgreSQL-only clauses are comments in the shared SQL text.
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
            let statement = self.transaction.prepare(&translate(sql)).await?;
            self.transaction.execute(&statement, &refer(params, &statement), sql).await
        }
        .boxed()
    }

    fn query<'t>(
        &'t mut self,
        sql: &'static str,
        params: &'t [Value],
    ) -> BoxFuture<'t, Result<Vec<Row>, SqlError>> {
        async move {
            let statement = self.transaction.prepare(&translate(sql)).await?;
            let rows = self.transaction.query(&statement, &refer(params, &statement), sql).await?;
            read_all(&statement, &rows)
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

    /// Also raises the memory for sorts that would otherwise spill to disk, and the idle limit.
    fn take_time(&mut self) -> BoxFuture<'_, Result<(), SqlError>> {
        let sql = "select set_config('statement_timeout', '5min', true),
                          set_config('idle_in_transaction_session_timeout', '5min', true),
                          set_config('work_mem', '128MB', true)";
        self.transaction.extend_deadline(Duration::from_secs(5 * 60));
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

    /// Other transactions that lock the same key wait until this one ends.
    fn lock<'t>(&'t mut self, what: Uuid) -> BoxFuture<'t, Result<(), SqlError>> {
        async move {
            let key = Value::Int(lock_key(what));
            let sql = "select pg_advisory_xact_lock($1)";
            let statement = self.transaction.prepare(sql).await?;
            let params = &[key];
            self.transaction.execute(&statement, &refer(params, &statement), sql).await.map(drop)
        }
        .boxed()
    }

    fn context(&self) -> &StoreContext {
        self.context
    }
}

/// The advisory lock key on the server.
pub(crate) fn lock_key(what: Uuid) -> i64 {
    let (high, low) = what.as_u64_pair();
    (high ^ low).cast_signed()
}

/// Classifies a server error by what the caller can do about it.
pub(crate) fn explain(error: &tokio_postgres::Error, sql: &str) -> SqlError {
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
    let conflicts = [
        SqlState::T_R_SERIALIZATION_FAILURE,
        SqlState::T_R_DEADLOCK_DETECTED,
        SqlState::LOCK_NOT_AVAILABLE,
    ];
    if conflicts.iter().any(is) {
        return SqlError::Conflict(complaint.message().to_owned());
    }
    match is_passing(complaint.code()) {
        true => SqlError::Unavailable(complaint.message().to_owned()),
        false => SqlError::Broken(format!("{complaint} in: {sql}")),
    }
}

/// Whether the server and not the statement is at fault, so a retry may work, perhaps on another
/// connection or server.
fn is_passing(state: &SqlState) -> bool {
    // Lost connections, and shortages of connections, memory, disk or configuration limits.
    let is_of_class = |class: &str| state.code().starts_with(class);
    let others = [
        SqlState::READ_ONLY_SQL_TRANSACTION,
        SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
        SqlState::T_R_STATEMENT_COMPLETION_UNKNOWN,
        SqlState::QUERY_CANCELED,
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::CANNOT_CONNECT_NOW,
        SqlState::DATABASE_DROPPED,
        SqlState::from_code("57P05"),
        SqlState::SYSTEM_ERROR,
        SqlState::IO_ERROR,
    ];
    is_of_class("08") || is_of_class("53") || others.contains(state)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trouble_of_the_server_is_no_fault_of_ours() {
        let passing = [
            "08000", "08003", "08006", "08P01", "25006", "25P03", "40003", "53000", "53100",
            "53200", "53300", "53400", "57014", "57P01", "57P02", "57P03", "57P04", "57P05",
            "58000", "58030",
        ];
        for code in passing {
            assert!(is_passing(&SqlState::from_code(code)), "{code}");
        }
        for code in ["22003", "23503", "25P02", "42501", "42601", "42703", "42P01", "XX000"] {
            assert!(!is_passing(&SqlState::from_code(code)), "{code}");
        }
    }
}
