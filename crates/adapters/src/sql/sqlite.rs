//! The store on SQLite: one thread that writes, a few that read.
//!
//! Every command runs inside a transaction that it shares with whatever else was waiting, as if
//! alone, and is answered only after that transaction's `COMMIT` is on disk. So a thousand
//! waiting fans cost one sync, a refused command undoes only itself, and what was answered
//! survives `kill -9` and a power cut.

mod backup;
mod connection;
#[cfg(feature = "mutants")]
mod inline;
mod reader;
mod writer;

pub(super) use backup::back_up;
#[cfg(feature = "mutants")]
pub(super) use inline::Inline;
#[cfg(feature = "mutants")]
pub use inline::Weather;

use super::tx::{Guard, Work};
use app::ports::clock::Chance;
use app::{Error, Result};
use connection::open;
use futures::channel::oneshot;
use std::path::Path;
use std::sync::Arc;

refinery::embed_migrations!("migrations/sqlite");

/// Connections that answer questions. Each has its own thread; SQLite reads do not block writes.
const READERS: usize = 3;

pub(super) struct Sqlite {
    writer: writer::Writer,
    readers: reader::Readers,
}

impl Sqlite {
    /// Opens or creates the database file and brings its schema up to date.
    pub(super) fn open(
        path: &Path,
        chance: Arc<dyn Chance>,
        off: Vec<Guard>,
    ) -> std::result::Result<Sqlite, String> {
        let mut connection = open(path, false)?;
        migrations::runner().run(&mut connection).map_err(|error| error.to_string())?;
        if off.contains(&Guard::OneClaimPerSeat) {
            connection
                .execute_batch("drop index if exists reservation_seats_one_claim")
                .map_err(|error| error.to_string())?;
        }
        let readers = reader::Readers::start(path, &chance, READERS)?;
        Ok(Sqlite { writer: writer::Writer::start(connection, chance, off)?, readers })
    }

    /// Runs a command; answers after it is on disk.
    pub(super) async fn write<W: Work>(&self, work: W) -> Result<W::Output> {
        let (send, receive) = oneshot::channel();
        self.writer.submit(work, send)?;
        receive.await.map_err(|oneshot::Canceled| stopped())?
    }

    /// Runs a question on one consistent view of what is committed.
    pub(super) async fn read<W: Work>(&self, work: W) -> Result<W::Output> {
        let (send, receive) = oneshot::channel();
        self.readers.submit(work, send)?;
        receive.await.map_err(|oneshot::Canceled| stopped())?
    }
}

fn stopped() -> Error {
    Error::Unavailable("the database thread has stopped".into())
}
