//! In-memory SQLite on the caller's task, with the simulation's injected faults. Only in builds
//! with the feature `mutants`.

use crate::sql::engine::sqlite::connection::{ConstraintNames, SqliteTx, prepare_in_memory};
use crate::sql::engine::sqlite::migrations;
use crate::sql::engine::sqlite::writer::run_now;
use crate::sql::engine::tx::{Command, StoreContext, Tx};
use crate::sql::engine::value::{Value, params};
use futures::FutureExt;
use futures::future::BoxFuture;
use podo_app::{Error, Result};
use rusqlite::Connection;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use uuid::Uuid;

/// Faults of a command on its way to the database, and of its answer on the way back.
pub trait FaultInjector: Send + Sync {
    /// An error means that the command never arrived.
    fn before(&self, command: &'static str) -> BoxFuture<'_, Result<()>>;

    /// An error means that the command took effect, but its answer is lost.
    fn after(&self, command: &'static str) -> BoxFuture<'_, Result<()>>;
}

/// An empty migrated database, created once for thousands of simulated worlds.
fn schema() -> std::result::Result<&'static [u8], String> {
    static SCHEMA: OnceLock<std::result::Result<Vec<u8>, String>> = OnceLock::new();
    let made = SCHEMA.get_or_init(|| {
        let mut connection = prepare_in_memory()?;
        migrations::runner().run(&mut connection).map_err(|error| error.to_string())?;
        connection.serialize("main").map(|it| it.to_vec()).map_err(|error| error.to_string())
    });
    made.as_deref().map_err(Clone::clone)
}

struct Shared {
    connection: Mutex<Connection>,
    names: ConstraintNames,
    context: Arc<StoreContext>,
}

/// One node's access to an in-memory database.
pub(crate) struct Inline {
    shared: Arc<Shared>,
    faults: Arc<dyn FaultInjector>,
}

impl Inline {
    pub(crate) fn open(
        context: Arc<StoreContext>,
        faults: Arc<dyn FaultInjector>,
    ) -> std::result::Result<Inline, String> {
        let mut connection = prepare_in_memory()?;
        let schema = schema()?;
        let copied = connection.deserialize_read_exact("main", schema, schema.len(), false);
        copied.map_err(|error| error.to_string())?;
        let names = ConstraintNames::load(&connection)?;
        let shared = Shared { connection: Mutex::new(connection), names, context };
        Ok(Inline { shared: Arc::new(shared), faults })
    }

    /// Changes the schema.
    pub(crate) fn run_statement(&self, sql: &str) -> std::result::Result<(), String> {
        let connection = self.shared.connection.lock().unwrap_or_else(PoisonError::into_inner);
        connection.execute_batch(sql).map_err(|error| error.to_string())
    }

    /// Another node's access to the same database.
    pub(crate) fn under(&self, faults: Arc<dyn FaultInjector>) -> Inline {
        Inline { shared: self.shared.clone(), faults }
    }

    pub(crate) async fn run<W: Command>(&self, command: W) -> Result<W::Output> {
        let name = std::any::type_name::<W>();
        self.faults.before(name).await?;
        let result = self.shared.in_transaction(|tx| run_now(tx, &command));
        self.faults.after(name).await?;
        result
    }

    /// The rows of a statement, without faults, for checkers.
    pub(crate) fn look(&self, sql: &'static str, about: Option<Uuid>) -> Vec<Vec<String>> {
        let found = self.shared.in_transaction(|tx| {
            let values = about.map(|about| params![about].to_vec()).unwrap_or_default();
            let found = tx.query(sql, &values).now_or_never();
            found.unwrap_or(Ok(Vec::new())).map_err(Error::from)
        });
        let rows = found.expect("a checker's query is valid SQL");
        rows.iter().map(|row| row.values().iter().map(Value::shown).collect()).collect()
    }
}

impl Shared {
    fn in_transaction<T>(&self, run: impl FnOnce(&mut SqliteTx<'_>) -> Result<T>) -> Result<T> {
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let mut tx = SqliteTx::on(&connection, &self.names, &self.context);
        tx.step("begin immediate").map_err(Error::Broken)?;
        let result = run(&mut tx);
        let end = if result.is_ok() { "commit" } else { "rollback" };
        tx.step(end).map_err(Error::Broken)?;
        result
    }
}
