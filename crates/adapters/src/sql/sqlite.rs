//! The store on SQLite: one thread that writes, one that waits for the disk, a few that read, one that
//! tidies the log.
//!
//! Every command runs inside a transaction that it shares with whatever else was waiting, as if
//! alone, and is answered only after that transaction's `COMMIT` is on disk. So a thousand
//! waiting fans cost one sync, a refused command undoes only itself, and what was answered
//! survives `kill -9` and a power cut.

mod backup;
mod checkpointer;
mod connection;
#[cfg(feature = "mutants")]
mod edited;
#[cfg(feature = "mutants")]
mod inline;
mod private;
mod reader;
mod statements;
mod syncer;
mod writer;

pub(super) use backup::back_up;
#[cfg(feature = "mutants")]
pub use edited::Edit;
#[cfg(feature = "mutants")]
pub(super) use inline::Inline;
#[cfg(feature = "mutants")]
pub use inline::Weather;

use super::plan::Plan;
use super::tx::{Guard, Work};
use app::ports::clock::Chance;
use app::{Error, Result};
use connection::open;
use futures::channel::oneshot;
use rusqlite::{Connection, OpenFlags};
use std::path::Path;
use std::sync::Arc;

refinery::embed_migrations!("migrations/sqlite");

/// Connections that answer questions. Each has its own thread; SQLite reads do not block writes.
const READERS: usize = 3;

pub(super) struct Sqlite {
    writer: writer::Writer,
    readers: reader::Readers,
    horizon: Arc<syncer::Horizon>,
}

impl Sqlite {
    /// Opens or creates the database file and brings its schema up to date.
    pub(super) fn open(
        path: &Path,
        chance: Arc<dyn Chance>,
        off: Vec<Guard>,
    ) -> std::result::Result<Sqlite, String> {
        private::keep_private(path)?;
        let mut connection = open(path, false)?;
        migrations::runner().run(&mut connection).map_err(|error| error.to_string())?;
        if off.contains(&Guard::OneClaimPerSeat) {
            connection
                .execute_batch("drop index if exists reservation_seats_one_claim")
                .map_err(|error| error.to_string())?;
        }
        let syncer = syncer::Syncer::start(path)?;
        let horizon = syncer.horizon();
        let readers = reader::Readers::start(path, &chance, horizon.clone(), READERS)?;
        let checkpointer = checkpointer::Checkpointer::start(path)?;
        let writer = writer::Writer::start(connection, (checkpointer, syncer), chance, off)?;
        Ok(Sqlite { writer, readers, horizon })
    }

    /// What this version would change in a file, with nothing changed.
    pub(super) fn plan(path: &Path) -> std::result::Result<Plan, String> {
        let known = if path.exists() { version(path).map_err(|it| it.to_string())? } else { 0 };
        Ok(Plan::after(known, migrations::runner().get_migrations()))
    }

    /// Runs a command; answers after it is on disk.
    pub(super) async fn write<W: Work>(&self, work: W) -> Result<W::Output> {
        self.horizon.check().map_err(Error::Unavailable)?;
        let (send, receive) = oneshot::channel();
        self.writer.submit(work, send)?;
        receive.await.map_err(|oneshot::Canceled| stopped())?
    }

    /// Runs a question on one consistent view of what is committed.
    pub(super) async fn read<W: Work>(&self, work: W) -> Result<W::Output> {
        self.horizon.check().map_err(Error::Unavailable)?;
        let (send, receive) = oneshot::channel();
        self.readers.submit(work, send)?;
        receive.await.map_err(|oneshot::Canceled| stopped())?
    }
}

/// The version of a file's schema; 0 where there is none.
fn version(path: &Path) -> rusqlite::Result<i64> {
    let database = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let table = "select count(*) from sqlite_master where name = 'refinery_schema_history'";
    if database.query_row(table, [], |row| row.get::<_, i64>(0))? == 0 {
        return Ok(0);
    }
    let latest = "select coalesce(max(version), 0) from refinery_schema_history";
    database.query_row(latest, [], |row| row.get(0))
}

fn stopped() -> Error {
    Error::Unavailable("the database thread has stopped".into())
}
