//! A connection and the transaction that runs on it.

use crate::sql::engine::sqlite::statements::Statements;
use crate::sql::engine::tx::{SqlError, StoreContext, Tx};
use crate::sql::engine::value::{Row, Value};
use futures::future::{BoxFuture, ready};
use podo_domain::Timestamp;
use rusqlite::config::DbConfig;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags, ToSql};
use send_wrapper::SendWrapper;
use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

/// Prepared statements cached per connection; the program has fewer than this.
const STATEMENTS_KEPT: usize = 256;

pub(crate) fn open(path: &Path, only_reads: bool) -> Result<Connection, String> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)
        .map_err(|error| format!("cannot open {}: {error}", path.display()))?;
    connection.busy_timeout(Duration::from_secs(5)).map_err(|error| error.to_string())?;
    // FULL: a commit returns only once it is on disk, so it survives a power cut. The writer uses a
    // weaker mode, because its syncer waits for the disk. 16 MB of cache: SQLite walks over all
    // cached pages after most commits, and the system caches the file anyway.
    connection
        .execute_batch(
            "pragma journal_mode = wal;
             pragma synchronous = full;
             pragma foreign_keys = on;
             pragma cache_size = -16384;
             pragma temp_store = memory;",
        )
        .map_err(|error| error.to_string())?;
    // Statement plans don't depend on bound values. Without this, SQLite plans a statement again
    // each time it binds a value that a partial index or statistics could use.
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
pub(crate) fn prepare_in_memory() -> Result<Connection, String> {
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

/// Maps SQLite's error text `table.column, table.column` to the index behind it.
pub(crate) struct ConstraintNames(HashMap<String, String>);

impl ConstraintNames {
    pub(crate) fn load(connection: &Connection) -> Result<ConstraintNames, String> {
        let sql = "select m.name as table_name, l.name as index_name,
                          (select group_concat(m.name || '.' || c.name, ', ')
                             from (select name from pragma_index_info(l.name) order by seqno) c)
                            as columns
                     from sqlite_master m, pragma_index_list(m.name) l
                    where m.type = 'table' and l.\"unique\"";
        let mut statement = connection.prepare(sql).map_err(|error| error.to_string())?;
        let names = statement
            .query_map([], |row| {
                let table: String = row.get("table_name")?;
                let index: String = row.get("index_name")?;
                let columns: Option<String> = row.get("columns")?;
                // SQLite's primary keys have no name; PostgreSQL's is `table_pkey`.
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

/// SQLite answers synchronously, so its futures are always ready.
pub(crate) struct SqliteTx<'c> {
    /// Futures over a transaction must be `Send`. These never move between threads, because they
    /// are ready when they are created.
    statements: SendWrapper<Statements<'c>>,
    names: &'c ConstraintNames,
    context: &'c StoreContext,
}

impl<'c> SqliteTx<'c> {
    pub(crate) fn on(
        connection: &'c Connection,
        names: &'c ConstraintNames,
        context: &'c StoreContext,
    ) -> SqliteTx<'c> {
        let statements = SendWrapper::new(Statements::of(connection));
        SqliteTx { statements, names, context }
    }

    pub(crate) fn connection(&self) -> &'c Connection {
        self.statements.connection()
    }

    /// Runs a transaction control statement.
    pub(crate) fn step(&mut self, sql: &'static str) -> Result<(), String> {
        let mut run = || self.statements.find(sql)?.statement.raw_execute();
        run().map(drop).map_err(|error| error.to_string())
    }

    /// Total rows changed on this connection.
    pub(crate) fn n_changes(&self) -> u64 {
        self.connection().total_changes()
    }

    /// After a full disk or an I/O error, SQLite rolls back the whole transaction by itself.
    pub(crate) fn is_open(&self) -> bool {
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
            let columns = &ready.columns;
            let mut rows = ready.statement.raw_query();
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                let values = (0..n_columns).map(|index| row.get_ref(index).map(read));
                found.push(Row::new(columns, values.collect::<Result<_, _>>()?));
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

    fn context(&self) -> &StoreContext {
        self.context
    }
}

fn read(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Int(number),
        // No table has a real column; sums over integers stay integers.
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
