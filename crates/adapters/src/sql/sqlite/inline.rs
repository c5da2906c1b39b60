//! SQLite in memory, run where it is asked, under weather that the simulation makes. Only builds
//! with the feature `mutants` have it.

use super::connection::{ConstraintNames, SqliteTx, prepare_in_memory};
use super::edited::{Edit, EditedTx};
use super::migrations;
use super::writer::run_now;
use crate::sql::tx::{Guard, Tx, Work};
use crate::sql::value::{Value, params};
use app::ports::clock::Chance;
use app::{Error, Result};
use futures::FutureExt;
use futures::future::BoxFuture;
use rusqlite::Connection;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use uuid::Uuid;

/// What happens to a command on its way to the database, and to its answer on the way back.
pub trait Weather: Send + Sync {
    /// An error: the command never arrived.
    fn before(&self, command: &'static str) -> BoxFuture<'_, Result<()>>;

    /// An error: it was done, and nobody heard of it.
    fn after(&self, command: &'static str) -> BoxFuture<'_, Result<()>>;
}

/// An empty database as the migrations make it: once, for thousands of worlds.
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
    chance: Arc<dyn Chance>,
    off: Vec<Guard>,
    edits: Vec<Edit>,
}

/// One node's way to a database in memory.
pub(in super::super) struct Inline {
    shared: Arc<Shared>,
    weather: Arc<dyn Weather>,
}

impl Inline {
    pub(in super::super) fn open(
        chance: Arc<dyn Chance>,
        (off, edits): (Vec<Guard>, Vec<Edit>),
        weather: Arc<dyn Weather>,
    ) -> std::result::Result<Inline, String> {
        let mut connection = prepare_in_memory()?;
        let schema = schema()?;
        let copied = connection.deserialize_read_exact("main", schema, schema.len(), false);
        copied.map_err(|error| error.to_string())?;
        if off.contains(&Guard::OneClaimPerSeat) {
            let drop = "drop index if exists reservation_seats_one_claim";
            connection.execute_batch(drop).map_err(|error| error.to_string())?;
        }
        let names = ConstraintNames::load(&connection)?;
        let shared = Shared { connection: Mutex::new(connection), names, chance, off, edits };
        Ok(Inline { shared: Arc::new(shared), weather })
    }

    /// Another node's way to the same database.
    pub(in super::super) fn under(&self, weather: Arc<dyn Weather>) -> Inline {
        Inline { shared: self.shared.clone(), weather }
    }

    pub(in super::super) async fn run<W: Work>(&self, work: W) -> Result<W::Output> {
        let command = std::any::type_name::<W>();
        self.weather.before(command).await?;
        let edits = &self.shared.edits;
        let result = self.shared.in_transaction(|tx| run_now(&mut EditedTx { tx, edits }, &work));
        self.weather.after(command).await?;
        result
    }

    /// What a statement finds, past the weather: for those who check.
    pub(in super::super) fn look(
        &self,
        sql: &'static str,
        about: Option<Uuid>,
    ) -> Vec<Vec<String>> {
        let found = self.shared.in_transaction(|tx| {
            let values = about.map(|about| params![about].to_vec()).unwrap_or_default();
            let found = tx.query(sql, &values).now_or_never();
            found.unwrap_or(Ok(Vec::new())).map_err(Error::from)
        });
        let rows = found.expect("a checker's question is valid SQL");
        rows.iter().map(|row| row.0.iter().map(Value::shown).collect()).collect()
    }
}

impl Shared {
    fn in_transaction<T>(&self, run: impl FnOnce(&mut SqliteTx<'_>) -> Result<T>) -> Result<T> {
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let mut tx = SqliteTx::on(&connection, &self.names, &*self.chance, &self.off);
        tx.step("begin immediate").map_err(Error::Broken)?;
        let result = run(&mut tx);
        let end = if result.is_ok() { "commit" } else { "rollback" };
        tx.step(end).map_err(Error::Broken)?;
        result
    }
}
