//! The thread that checkpoints the WAL into the database file.
//!
//! SQLite would checkpoint on the writer thread, every thousand pages, and every command would wait
//! for a sync of pages all over the file. With this thread the writer waits only for its WAL. Once
//! the WAL is long, the writer checkpoints the small remainder itself, so that the WAL restarts.

use crate::sql::engine::sqlite::connection::open;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};
use rusqlite::Connection;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The interval between checkpoints: a page that changes often is then written once.
const GATHER: Duration = Duration::from_secs(1);

/// A WAL of more pages than this should restart (64 MB).
const LOG_PAGES_LONG: u32 = 16 * 1024;

/// At this length (512 MB) the writer checkpoints everything itself, because the disk is too slow
/// for both threads.
const LOG_PAGES_MAX: u32 = 128 * 1024;

pub(crate) struct Checkpointer {
    written: Sender<()>,
    is_log_long: Arc<AtomicBool>,
}

impl Checkpointer {
    pub(crate) fn start(path: &Path) -> Result<Checkpointer, String> {
        let connection = open(path, false)?;
        let (written, waiting) = crossbeam_channel::bounded(1);
        let is_log_long = Arc::new(AtomicBool::new(false));
        let tell = is_log_long.clone();
        thread::Builder::new()
            .name("podo-checkpointer".into())
            .spawn(move || carry_over_until_closed(&connection, &waiting, &tell))
            .map_err(|error| error.to_string())?;
        Ok(Checkpointer { written, is_log_long })
    }

    /// The writer calls this on its own connection before its first commit.
    pub(crate) fn take_over(&self, connection: &Connection) -> Result<(), String> {
        connection
            .pragma_update(None, "wal_autocheckpoint", LOG_PAGES_MAX)
            .map_err(|error| error.to_string())
    }

    /// The writer calls this on its own connection after each commit.
    pub(crate) fn committed(&self, connection: &Connection) {
        // One pending signal is enough.
        let _ = self.written.try_send(());
        if self.is_log_long.swap(false, Ordering::Relaxed) {
            carry_over(connection);
        }
    }
}

fn carry_over_until_closed(
    connection: &Connection,
    written: &Receiver<()>,
    is_log_long: &AtomicBool,
) {
    while written.recv().is_ok() {
        let due = Instant::now() + GATHER;
        loop {
            match written.recv_deadline(due) {
                Ok(()) => {}
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
        let n_pages = carry_over(connection);
        is_log_long.store(n_pages > LOG_PAGES_LONG, Ordering::Relaxed);
    }
}

/// Checkpoints as far as no reader needs the WAL. Returns the number of pages in the WAL: 0 if
/// another connection is checkpointing, which SQLite reports as -1.
fn carry_over(connection: &Connection) -> u32 {
    let checkpoint = "pragma wal_checkpoint(passive)";
    match connection.query_row(checkpoint, [], |row| row.get::<_, i64>("log")) {
        Ok(n_pages) => u32::try_from(n_pages).unwrap_or(0),
        Err(error) => {
            tracing::warn!(%error, "WAL checkpoint failed");
            0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkpoint_beside_another_one_has_no_pages_and_no_warning() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("podo.db");
        let ours = open(&path, false).unwrap();
        ours.execute_batch("create table seats (number integer); insert into seats values (1)")
            .unwrap();
        assert!(carry_over(&ours) > 0);

        // A checkpoint that waits for a reader holds the lock of all checkpoints.
        let other = open(&path, false).unwrap();
        other.busy_timeout(Duration::from_secs(60)).unwrap();
        let reader = open(&path, false).unwrap();
        reader.execute_batch("begin; select * from seats").unwrap();
        ours.execute_batch("insert into seats values (2)").unwrap();
        let waits = thread::spawn(move || {
            other.query_row("pragma wal_checkpoint(restart)", [], |_| Ok(())).unwrap();
        });
        let give_up = Instant::now() + Duration::from_secs(20);
        while carry_over(&ours) > 0 {
            assert!(Instant::now() < give_up, "the other checkpoint never took its lock");
            thread::yield_now();
        }
        reader.execute_batch("rollback").unwrap();
        waits.join().unwrap();
        assert!(carry_over(&ours) > 0, "the lock is free again");
    }
}
