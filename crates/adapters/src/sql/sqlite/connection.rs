//! A connection and the transaction that runs on it.

use super::statements::Statements;
use crate::sql::tx::{Guard, SqlError, Tx};
use crate::sql::value::{Row, Value};
use app::ports::clock::Chance;
use domain::Timestamp;
use futures::future::{BoxFuture, ready};
use rusqlite::config::DbConfig;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags, ToSql};
use send_wrapper::SendWrapper;
use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

/// Statements kept prepared per connection; there are fewer than this in the program.
const STATEMENTS_KEPT: usize = 256;

pub(super) fn open(path: &Path, only_reads: bool) -> Result<Connection, String> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)
        .map_err(|error| format!("cannot open {}: {error}", path.display()))?;
    connection.busy_timeout(Duration::from_secs(5)).map_err(|error| error.to_string())?;
    // FULL: a commit is over only when it is on disk, so it survives a power cut too. The writer does
    // without, because its syncer waits for the disk.
    // 16 MB of pages: SQLite walks over all of them after most commits, and the system keeps the
    // file in memory anyway.
    connection
        .execute_batch(
            "pragma journal_mode = wal;
             pragma synchronous = full;
             pragma foreign_keys = on;
             pragma cache_size = -16384;
             pragma temp_store = memory;",
        )
        .map_err(|error| error.to_string())?;
    // The plan of a statement does not depend on its values. Without this SQLite plans anew each
    // time one is bound that a partial index or its statistics could make use of.
    connection
        .set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)
        .map_err(|error| error.to_string())?;
    if only_reads {
        connection.execute_batch("pragma query_only = on").map_err(|error| error.to_string())?;
    }
    connection.set_prepared_statement_cache_capacity(STATEMENTS_KEPT);
    Ok(connection)
}

/// A database that lives as long as its connection.
#[cfg(feature = "mutants")]
pub(super) fn prepare_in_memory() -> Result<Connection, String> {
    let connection = Connection::open_in_memory().map_err(|error| error.to_string())?;
    connection
        .execute_batch("pragma foreign_keys = on; pragma temp_store = memory;")
        .map_err(|error| error.to_string())?;
    connection
        .set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)
        .map_err(|error| error.to_string())?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_KEPT);
    Ok(connection)
}

/// Which index stands behind SQLite's complaint about `table.column, table.column`.
pub(super) struct ConstraintNames(HashMap<String, String>);

impl ConstraintNames {
    pub(super) fn load(connection: &Connection) -> Result<ConstraintNames, String> {
        let sql = "select m.name, l.name,
                          (select group_concat(m.name || '.' || c.name, ', ')
                             from (select name from pragma_index_info(l.name) order by seqno) c)
                     from sqlite_master m, pragma_index_list(m.name) l
                    where m.type = 'table' and l.\"unique\"";
        let mut statement = connection.prepare(sql).map_err(|error| error.to_string())?;
        let names = statement
            .query_map([], |row| {
                let (table, index): (String, String) = (row.get(0)?, row.get(1)?);
                let columns: Option<String> = row.get(2)?;
                // A primary key has no name of its own in SQLite; PostgreSQL's is `table_pkey`.
                let is_unnamed = index.starts_with("sqlite_autoindex");
                let name = if is_unnamed { format!("{table}_pkey") } else { index };
                Ok((columns.unwrap_or_default(), name))
            })
            .and_then(Iterator::collect)
            .map_err(|error| error.to_string())?;
        Ok(ConstraintNames(names))
    }

    fn name_of(&self, complaint: &str) -> String {
        let what = complaint.split_once(": ").map_or(complaint, |(_, what)| what);
        self.0.get(what).cloned().unwrap_or_else(|| what.to_owned())
    }
}

/// SQLite answers at once, so its futures are always ready.
pub(super) struct SqliteTx<'c> {
    /// Futures over a transaction may move between threads. Over this one they never do: they are
    /// ready when they are made.
    statements: SendWrapper<Statements<'c>>,
    names: &'c ConstraintNames,
    chance: &'c dyn Chance,
    off: &'c [Guard],
}

impl<'c> SqliteTx<'c> {
    pub(super) fn on(
        connection: &'c Connection,
        names: &'c ConstraintNames,
        chance: &'c dyn Chance,
        off: &'c [Guard],
    ) -> SqliteTx<'c> {
        let statements = SendWrapper::new(Statements::of(connection));
        SqliteTx { statements, names, chance, off }
    }

    pub(super) fn connection(&self) -> &'c Connection {
        self.statements.connection()
    }

    /// Opens, marks, undoes or closes: a statement of the transaction itself.
    pub(super) fn step(&mut self, sql: &'static str) -> Result<(), String> {
        let mut run = || self.statements.find(sql)?.statement.raw_execute();
        run().map(drop).map_err(|error| error.to_string())
    }

    /// Rows changed on this connection so far, in all.
    pub(super) fn n_changes(&self) -> u64 {
        self.connection().total_changes()
    }

    /// After a full disk or a failed read SQLite undoes the whole transaction by itself.
    pub(super) fn is_open(&self) -> bool {
        !self.connection().is_autocommit()
    }

    fn execute_now(&mut self, sql: &'static str, params: &[Value]) -> Result<u64, SqlError> {
        let mut run = || {
            let ready = self.statements.find(sql)?;
            ready.bind(params)?;
            ready.statement.raw_execute()
        };
        run().map(|changed| changed as u64).map_err(|error| self.explain(&error, sql))
    }

    fn query_now(&mut self, sql: &'static str, params: &[Value]) -> Result<Vec<Row>, SqlError> {
        let mut run = || {
            let ready = self.statements.find(sql)?;
            ready.bind(params)?;
            let n_columns = ready.statement.column_count();
            let mut rows = ready.statement.raw_query();
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                let columns = (0..n_columns).map(|index| row.get_ref(index).map(read));
                found.push(Row(columns.collect::<Result<_, _>>()?));
            }
            Ok(found)
        };
        run().map_err(|error| self.explain(&error, sql))
    }

    fn explain(&self, error: &rusqlite::Error, sql: &str) -> SqlError {
        let rusqlite::Error::SqliteFailure(failure, message) = error else {
            return SqlError::Broken(format!("{error} in: {sql}"));
        };
        #[expect(clippy::wildcard_enum_match_arm, reason = "SQLite's list may grow")]
        match failure.code {
            ErrorCode::ConstraintViolation => {
                SqlError::Constraint(self.names.name_of(message.as_deref().unwrap_or_default()))
            }
            ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::DiskFull
            | ErrorCode::SystemIoFailure
            | ErrorCode::ReadOnly
            | ErrorCode::CannotOpen => SqlError::Unavailable(error.to_string()),
            _ => SqlError::Broken(format!("{error} in: {sql}")),
        }
    }
}

impl Tx for SqliteTx<'_> {
    fn execute<'t>(
        &'t mut self,
        sql: &'static str,
        params: &'t [Value],
    ) -> BoxFuture<'t, Result<u64, SqlError>> {
        Box::pin(ready(self.execute_now(sql, params)))
    }

    fn query<'t>(
        &'t mut self,
        sql: &'static str,
        params: &'t [Value],
    ) -> BoxFuture<'t, Result<Vec<Row>, SqlError>> {
        Box::pin(ready(self.query_now(sql, params)))
    }

    fn chance(&self) -> &dyn Chance {
        self.chance
    }

    fn has(&self, guard: Guard) -> bool {
        !self.off.contains(&guard)
    }
}

fn read(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Int(number),
        // No table of ours has a real column; sums over integers stay integers.
        ValueRef::Real(number) => Value::Text(number.to_string()),
        ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => Value::Bytes(bytes.to_vec()),
    }
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let value = match self {
            Value::Null => ValueRef::Null,
            Value::Int(number) => ValueRef::Integer(*number),
            Value::Bool(truth) => ValueRef::Integer(i64::from(*truth)),
            Value::Text(text) | Value::Json(text) => ValueRef::Text(text.as_bytes()),
            Value::Bytes(bytes) => ValueRef::Blob(bytes),
            Value::Uuid(uuid) => ValueRef::Blob(uuid.as_bytes()),
            Value::Time(time) => ValueRef::Integer(Timestamp::ms(*time)),
        };
        Ok(ToSqlOutput::Borrowed(value))
    }
}
