//! The thread that waits for the disk, so that the writer can continue meanwhile.
//!
//! After `COMMIT` a change is in the WAL file, but not yet on disk. Until it is, neither its writer
//! nor a reader who saw it gets an answer. So a power cut loses only changes that were never
//! acknowledged or shown. While one batch is being synced, the writer runs the next.

use crate::sql::engine::sqlite::writer::QueuedCommand;
use crossbeam_channel::{Receiver, Sender};
use rusqlite::Connection;
use std::fs::{File, OpenOptions};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;

/// Batches that may queue behind the one being synced. With none, the writer waits for a slow disk,
/// and commands that arrive meanwhile share the next commit.
const BATCHES_WAITING_MAX: usize = 0;

/// Commands that were committed together, and the result of the commit.
type Batch = (Vec<Box<dyn QueuedCommand>>, Result<(), String>);

/// The writer's side.
pub(crate) struct Syncer {
    batches: Sender<Batch>,
    watermark: Arc<DurableWatermark>,
}

impl Syncer {
    /// Starts by syncing the WAL, because a killed process may have left unsynced data in its file.
    pub(crate) fn start(database: &Path) -> Result<Syncer, String> {
        let mut log = database.as_os_str().to_owned();
        log.push("-wal");
        let log = OpenOptions::new().write(true).create(true).truncate(false).open(&log);
        let log = log.map_err(|error| format!("cannot open the log: {error}"))?;
        log.sync_data().map_err(|error| format!("the log does not reach the disk: {error}"))?;
        Syncer::start_on(move || File::sync_data(&log))
    }

    fn start_on(
        sync: impl FnMut() -> std::io::Result<()> + Send + 'static,
    ) -> Result<Syncer, String> {
        let (batches, waiting) = crossbeam_channel::bounded(BATCHES_WAITING_MAX);
        let watermark = Arc::new(DurableWatermark::default());
        let theirs = watermark.clone();
        thread::Builder::new()
            .name("podo-syncer".into())
            .spawn(move || sync_until_closed(&waiting, &theirs, sync))
            .map_err(|error| error.to_string())?;
        Ok(Syncer { batches, watermark })
    }

    /// The writer calls this on its own connection before its first commit, so that SQLite no
    /// longer syncs after each commit. SQLite still syncs when the WAL restarts and before a
    /// checkpoint.
    pub(crate) fn take_over(&self, connection: &Connection) -> Result<(), String> {
        connection.pragma_update(None, "synchronous", "normal").map_err(|error| error.to_string())
    }

    pub(crate) fn watermark(&self) -> Arc<DurableWatermark> {
        self.watermark.clone()
    }

    /// Called before each `COMMIT`: from then on readers may see it.
    pub(crate) fn begin_commit(&self) {
        self.watermark.n_begun.fetch_add(1, Ordering::SeqCst);
    }

    /// Called after each `COMMIT`, successful or not. Answers the commands once they are on disk.
    pub(crate) fn committed(&self, batch: Batch) {
        // The thread outlives the writer unless it panicked; then no command gets an answer.
        let _ = self.batches.send(batch);
    }
}

/// The commit up to which everything is on disk.
#[derive(Default)]
pub(crate) struct DurableWatermark {
    n_begun: AtomicU64,
    n_synced: AtomicU64,
    readers: Mutex<Vec<Reader>>,
    /// Why the disk's state is unknown.
    lost: OnceLock<String>,
}

/// A reader's answer that may depend on a commit that isn't on disk yet.
struct Reader {
    after: u64,
    answer: Box<dyn FnOnce() + Send>,
}

impl DurableWatermark {
    /// Answers a finished reader once everything it could have seen is on disk. If the disk fails
    /// first, the reader gets no answer.
    pub(crate) fn answer_reader(&self, answer: impl FnOnce() + Send + 'static) {
        let after = self.n_begun.load(Ordering::SeqCst);
        if self.is_reached(after) {
            return answer();
        }
        let mut readers = self.readers.lock().expect("the lock is never poisoned");
        if !self.is_reached(after) {
            readers.push(Reader { after, answer: Box::new(answer) });
            return;
        }
        drop(readers);
        answer();
    }

    /// After a failed sync the state of the disk is unknown, and a later successful sync doesn't
    /// prove anything. Only a restart can.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.lost.get().map_or(Ok(()), |why| Err(why.clone()))
    }

    fn is_reached(&self, commit: u64) -> bool {
        commit <= self.n_synced.load(Ordering::SeqCst)
    }

    fn synced_one(&self) {
        let n_synced = self.n_synced.fetch_add(1, Ordering::SeqCst) + 1;
        let mut readers = self.readers.lock().expect("the lock is never poisoned");
        let ready: Vec<Reader> = readers.extract_if(.., |it| it.after <= n_synced).collect();
        drop(readers);
        for reader in ready {
            if self.lost.get().is_none() {
                (reader.answer)();
            }
        }
    }
}

fn sync_until_closed(
    batches: &Receiver<Batch>,
    watermark: &DurableWatermark,
    mut sync: impl FnMut() -> std::io::Result<()>,
) {
    while let Ok((commands, committed)) = batches.recv() {
        let is_on_disk = committed.and_then(|()| watermark.check()).and_then(|()| {
            sync().map_err(|error| {
                tracing::error!(%error, "Disk sync failed; the store answers no requests until a restart");
                let why = format!("the disk failed: {error}");
                watermark.lost.get_or_init(|| why).clone()
            })
        });
        for command in commands {
            command.answer(&is_on_disk);
        }
        watermark.synced_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::engine::sqlite::connection::SqliteTx;
    use std::io;
    use std::sync::mpsc;
    use std::time::Duration;

    /// A command that reports its answer.
    struct Asker(mpsc::Sender<Result<(), String>>);

    impl QueuedCommand for Asker {
        fn run(&mut self, _: &mut SqliteTx<'_>) -> bool {
            true
        }

        fn fail(&mut self, _: String) {}

        fn answer(self: Box<Self>, committed: &Result<(), String>) {
            self.0.send(committed.clone()).unwrap();
        }
    }

    /// A disk that completes a sync on request.
    fn syncer_on_slow_disk() -> (Syncer, mpsc::Sender<io::Result<()>>) {
        let (finish, finished) = mpsc::channel();
        let syncer =
            Syncer::start_on(move || finished.recv().expect("the test completes every sync"));
        (syncer.unwrap(), finish)
    }

    fn commit(syncer: &Syncer) -> mpsc::Receiver<Result<(), String>> {
        let (send, synced) = mpsc::channel();
        syncer.begin_commit();
        syncer.committed((vec![Box::new(Asker(send))], Ok(())));
        synced
    }

    fn read(syncer: &Syncer) -> mpsc::Receiver<()> {
        let (send, synced) = mpsc::channel();
        syncer.watermark.answer_reader(move || send.send(()).unwrap());
        synced
    }

    const SOON: Duration = Duration::from_millis(50);
    const AT_LAST: Duration = Duration::from_secs(10);

    #[test]
    fn no_answer_before_the_commit_is_on_disk() {
        let (syncer, finish) = syncer_on_slow_disk();
        let before = read(&syncer);
        assert!(before.recv_timeout(AT_LAST).is_ok(), "there is nothing to wait for");
        let writer = commit(&syncer);
        let reader = read(&syncer);
        assert!(writer.recv_timeout(SOON).is_err(), "the writer waits");
        assert!(reader.recv_timeout(SOON).is_err(), "a reader that may have seen it waits");
        finish.send(Ok(())).unwrap();
        assert_eq!(writer.recv_timeout(AT_LAST).unwrap(), Ok(()));
        assert!(reader.recv_timeout(AT_LAST).is_ok());
    }

    #[test]
    fn a_reader_waits_for_a_commit_that_is_under_way() {
        let (syncer, finish) = syncer_on_slow_disk();
        syncer.begin_commit();
        let reader = read(&syncer);
        assert!(reader.recv_timeout(SOON).is_err());
        let (send, _synced) = mpsc::channel();
        syncer.committed((vec![Box::new(Asker(send))], Ok(())));
        finish.send(Ok(())).unwrap();
        assert!(reader.recv_timeout(AT_LAST).is_ok());
    }

    #[test]
    fn a_disk_that_failed_once_is_not_believed_again() {
        let (syncer, finish) = syncer_on_slow_disk();
        assert_eq!(syncer.watermark().check(), Ok(()));
        let writer = commit(&syncer);
        let reader = read(&syncer);
        finish.send(Err(io::Error::other("bad block"))).unwrap();
        let synced = writer.recv_timeout(AT_LAST).unwrap();
        assert!(synced.unwrap_err().contains("bad block"));
        assert!(syncer.watermark().check().is_err());
        assert!(reader.recv_timeout(AT_LAST).is_err(), "what was read may be lost");
        let later = commit(&syncer).recv_timeout(AT_LAST).unwrap();
        assert!(later.is_err(), "it fails without another sync");
    }

    #[test]
    fn a_commit_that_failed_asks_nothing_of_the_disk() {
        let (syncer, _finish) = syncer_on_slow_disk();
        let (send, synced) = mpsc::channel();
        syncer.begin_commit();
        syncer.committed((vec![Box::new(Asker(send))], Err("full".into())));
        assert_eq!(synced.recv_timeout(AT_LAST).unwrap(), Err("full".into()));
        assert!(read(&syncer).recv_timeout(AT_LAST).is_ok());
    }
}
