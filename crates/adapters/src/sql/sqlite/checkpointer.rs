//! The thread that carries what was committed from the log into the database file.
//!
//! SQLite would do so on the writing thread, every thousand pages, and everybody would wait for a
//! sync of pages that lie all over the file. Here the writer waits only for its own log. Once the
//! log is long it carries over the little that came in the meantime, so that the log starts again.

use super::connection::open;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};
use rusqlite::Connection;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How long what was committed gathers: a page that changed often is then carried over once.
const GATHER: Duration = Duration::from_secs(1);

/// A log of more pages than this should start again (64 MB).
const LOG_PAGES_LONG: u32 = 16 * 1024;

/// The writer carries everything over by itself when the log gets this long (512 MB): the disk is
/// too slow for the two of them.
const LOG_PAGES_MAX: u32 = 128 * 1024;

pub(super) struct Checkpointer {
    written: Sender<()>,
    is_log_long: Arc<AtomicBool>,
}

impl Checkpointer {
    pub(super) fn start(path: &Path) -> Result<Checkpointer, String> {
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

    /// Called by the writer on its own connection, before its first commit.
    pub(super) fn take_over(&self, connection: &Connection) -> Result<(), String> {
        connection
            .pragma_update(None, "wal_autocheckpoint", LOG_PAGES_MAX)
            .map_err(|error| error.to_string())
    }

    /// Called by the writer on its own connection, after each commit.
    pub(super) fn committed(&self, connection: &Connection) {
        // One that is already waiting is enough.
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

/// As much as nobody reads any more; says how many pages the log has.
fn carry_over(connection: &Connection) -> u32 {
    let pages = connection.query_row("pragma wal_checkpoint(passive)", [], |row| row.get(1));
    pages.unwrap_or_else(|error| {
        tracing::warn!(%error, "The log could not be carried over into the database file");
        0
    })
}
