//! The SQLite engine: one writer thread, one that syncs the disk, a few readers, one that
//! checkpoints the WAL.
//!
//! Every command runs in a transaction shared with the other queued commands, as if it were alone,
//! and gets its answer only after that transaction's `COMMIT` is on disk. So a thousand waiting
//! fans cost one sync, a refused command undoes only itself, and acknowledged commands survive
//! `kill -9` and a power cut.

mod backup;
mod checkpointer;
mod connection;
#[cfg(feature = "mutants")]
mod inline;
mod private;
mod reader;
mod statements;
mod syncer;
mod writer;

pub(crate) use backup::back_up;
#[cfg(feature = "mutants")]
pub use inline::FaultInjector;
#[cfg(feature = "mutants")]
pub(crate) use inline::Inline;

use crate::sql::engine::plan::MigrationPlan;
use crate::sql::engine::tx::{Command, StoreContext};
use connection::open;
use futures::channel::oneshot;
use podo_app::{Error, Result};
use rusqlite::{Connection, OpenFlags};
use std::path::Path;
use std::sync::Arc;

refinery::embed_migrations!("migrations/sqlite");

/// Reader connections, one thread each. SQLite reads don't block writes.
const READERS: usize = 3;

pub(crate) struct Sqlite {
    writer: writer::Writer,
    readers: reader::Readers,
    watermark: Arc<syncer::DurableWatermark>,
}

impl Sqlite {
    /// Opens or creates the database file and migrates its schema.
    pub(crate) fn open(
        path: &Path,
        context: Arc<StoreContext>,
    ) -> std::result::Result<Sqlite, String> {
        private::keep_private(path)?;
        let mut connection = open(path, false)?;
        migrations::runner().run(&mut connection).map_err(|error| error.to_string())?;
        let syncer = syncer::Syncer::start(path)?;
        let watermark = syncer.watermark();
        let readers = reader::Readers::start(path, &context, watermark.clone(), READERS)?;
        let checkpointer = checkpointer::Checkpointer::start(path)?;
        let writer = writer::Writer::start(connection, checkpointer, syncer, context)?;
        Ok(Sqlite { writer, readers, watermark })
    }

    /// What this version would change in a file. Changes nothing.
    pub(crate) fn plan(path: &Path) -> std::result::Result<MigrationPlan, String> {
        let known = if path.exists() { version(path).map_err(|it| it.to_string())? } else { 0 };
        Ok(MigrationPlan::after(known, migrations::runner().get_migrations()))
    }

    /// Runs a command and returns once it is on disk.
    pub(crate) async fn write<W: Command>(&self, command: W) -> Result<W::Output> {
        self.watermark.check().map_err(Error::Unavailable)?;
        let (send, receive) = oneshot::channel();
        self.writer.submit(command, send)?;
        receive.await.map_err(|oneshot::Canceled| stopped())?
    }

    /// Runs a query on one consistent snapshot of the committed data.
    pub(crate) async fn read<W: Command>(&self, command: W) -> Result<W::Output> {
        self.watermark.check().map_err(Error::Unavailable)?;
        let (send, receive) = oneshot::channel();
        self.readers.submit(command, send)?;
        receive.await.map_err(|oneshot::Canceled| stopped())?
    }
}

/// Runs a statement of a test beside the store.
#[cfg(feature = "mutants")]
pub(crate) fn run_on_file(path: &Path, sql: &str) -> std::result::Result<(), String> {
    open(path, false)?.execute_batch(sql).map_err(|error| error.to_string())
}

/// The version of a file's schema; 0 if it has none.
fn version(path: &Path) -> rusqlite::Result<i64> {
    let database = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let table = "select count(*) as n from sqlite_master where name = 'refinery_schema_history'";
    if database.query_row(table, [], |row| row.get::<_, i64>("n"))? == 0 {
        return Ok(0);
    }
    let latest = "select coalesce(max(version), 0) as version from refinery_schema_history";
    database.query_row(latest, [], |row| row.get("version"))
}

fn stopped() -> Error {
    Error::Unavailable("the database thread has stopped".into())
}
