//! The thread that waits for the disk, so that the writer can go on meanwhile.
//!
//! After `COMMIT` a change is in the log's file, but not yet on the disk. Until it is, nobody is told
//! of it: neither those who made it nor those who have read it. So a power cut takes back only what
//! nobody knew. While one batch is on its way to the disk the writer runs the next.

use super::writer::Command;
use crossbeam_channel::{Receiver, Sender};
use rusqlite::Connection;
use std::fs::{File, OpenOptions};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;

/// Batches that may wait for the disk behind the one that is on its way. With none the writer waits
/// for a slow disk, and what comes in the meantime shares the next commit.
const BATCHES_WAITING_MAX: usize = 0;

/// Commands that were committed together, and whether that worked.
type Batch = (Vec<Box<dyn Command>>, Result<(), String>);

/// The writer's side.
pub(super) struct Syncer {
    batches: Sender<Batch>,
    horizon: Arc<Horizon>,
}

impl Syncer {
    /// Starts with a log that is on the disk: a process that was killed may have left more in its
    /// file than that.
    pub(super) fn start(database: &Path) -> Result<Syncer, String> {
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
        let horizon = Arc::new(Horizon::default());
        let theirs = horizon.clone();
        thread::Builder::new()
            .name("podo-syncer".into())
            .spawn(move || sync_until_closed(&waiting, &theirs, sync))
            .map_err(|error| error.to_string())?;
        Ok(Syncer { batches, horizon })
    }

    /// Called by the writer on its own connection, before its first commit: SQLite need not wait for
    /// the disk after each commit any more. Where its log begins anew, and before the log is carried
    /// over, it still does.
    pub(super) fn take_over(&self, connection: &Connection) -> Result<(), String> {
        connection.pragma_update(None, "synchronous", "normal").map_err(|error| error.to_string())
    }

    pub(super) fn horizon(&self) -> Arc<Horizon> {
        self.horizon.clone()
    }

    /// Called before each `COMMIT`: from then on readers may see it.
    pub(super) fn begin_commit(&self) {
        self.horizon.n_begun.fetch_add(1, Ordering::SeqCst);
    }

    /// Called after each `COMMIT`, whatever came of it. The commands are answered when they are on the
    /// disk.
    pub(super) fn committed(&self, batch: Batch) {
        // The thread ends after the writer, unless it panicked; then nobody is told anything.
        let _ = self.batches.send(batch);
    }
}

/// Up to which commit everything is on the disk.
#[derive(Default)]
pub(super) struct Horizon {
    n_begun: AtomicU64,
    n_synced: AtomicU64,
    readers: Mutex<Vec<Reader>>,
    /// Why the disk cannot be believed any more.
    lost: OnceLock<String>,
}

/// An answer that may rest on a commit which is not on the disk yet.
struct Reader {
    after: u64,
    answer: Box<dyn FnOnce() + Send>,
}

impl Horizon {
    /// Answers a reader who is done, once everything that could be seen is on the disk. One who waits
    /// when the disk fails is let go without an answer.
    pub(super) fn answer_reader(&self, answer: impl FnOnce() + Send + 'static) {
        let after = self.n_begun.load(Ordering::SeqCst);
        if self.is_reached(after) {
            return answer();
        }
        let mut readers = self.readers.lock().expect("nothing panics under this lock");
        if !self.is_reached(after) {
            readers.push(Reader { after, answer: Box::new(answer) });
            return;
        }
        drop(readers);
        answer();
    }

    /// After a sync that failed nobody knows what is on the disk, and a later one that works does not
    /// say: only a new start can tell.
    pub(super) fn check(&self) -> Result<(), String> {
        self.lost.get().map_or(Ok(()), |why| Err(why.clone()))
    }

    fn is_reached(&self, commit: u64) -> bool {
        commit <= self.n_synced.load(Ordering::SeqCst)
    }

    fn synced_one(&self) {
        let n_synced = self.n_synced.fetch_add(1, Ordering::SeqCst) + 1;
        let mut readers = self.readers.lock().expect("nothing panics under this lock");
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
    horizon: &Horizon,
    mut sync: impl FnMut() -> std::io::Result<()>,
) {
    while let Ok((commands, committed)) = batches.recv() {
        let is_on_disk = committed.and_then(|()| horizon.check()).and_then(|()| {
            sync().map_err(|error| {
                tracing::error!(%error, "The disk failed: the store answers nobody until a restart");
                let why = format!("the disk failed: {error}");
                horizon.lost.get_or_init(|| why).clone()
            })
        });
        for command in commands {
            command.answer(&is_on_disk);
        }
        horizon.synced_one();
    }
}

#[cfg(test)]
mod tests {
    use super::super::connection::SqliteTx;
    use super::*;
    use std::io;
    use std::sync::mpsc;
    use std::time::Duration;

    /// Says what it was told.
    struct Asker(mpsc::Sender<Result<(), String>>);

    impl Command for Asker {
        fn run(&mut self, _: &mut SqliteTx<'_>) -> bool {
            true
        }

        fn fail(&mut self, _: String) {}

        fn answer(self: Box<Self>, committed: &Result<(), String>) {
            self.0.send(committed.clone()).unwrap();
        }
    }

    /// A disk that takes what is written when it is told to.
    fn syncer_on_slow_disk() -> (Syncer, mpsc::Sender<io::Result<()>>) {
        let (finish, finished) = mpsc::channel();
        let syncer = Syncer::start_on(move || finished.recv().expect("the disk is told"));
        (syncer.unwrap(), finish)
    }

    fn commit(syncer: &Syncer) -> mpsc::Receiver<Result<(), String>> {
        let (send, told) = mpsc::channel();
        syncer.begin_commit();
        syncer.committed((vec![Box::new(Asker(send))], Ok(())));
        told
    }

    fn read(syncer: &Syncer) -> mpsc::Receiver<()> {
        let (send, told) = mpsc::channel();
        syncer.horizon.answer_reader(move || send.send(()).unwrap());
        told
    }

    const SOON: Duration = Duration::from_millis(50);
    const AT_LAST: Duration = Duration::from_secs(10);

    #[test]
    fn nobody_is_told_of_what_is_not_on_the_disk() {
        let (syncer, finish) = syncer_on_slow_disk();
        let before = read(&syncer);
        assert!(before.recv_timeout(AT_LAST).is_ok(), "there is nothing to wait for");
        let writer = commit(&syncer);
        let reader = read(&syncer);
        assert!(writer.recv_timeout(SOON).is_err(), "who wrote it waits");
        assert!(reader.recv_timeout(SOON).is_err(), "who may have seen it waits");
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
        let (send, _told) = mpsc::channel();
        syncer.committed((vec![Box::new(Asker(send))], Ok(())));
        finish.send(Ok(())).unwrap();
        assert!(reader.recv_timeout(AT_LAST).is_ok());
    }

    #[test]
    fn a_disk_that_failed_once_is_not_believed_again() {
        let (syncer, finish) = syncer_on_slow_disk();
        assert_eq!(syncer.horizon().check(), Ok(()));
        let writer = commit(&syncer);
        let reader = read(&syncer);
        finish.send(Err(io::Error::other("bad block"))).unwrap();
        let told = writer.recv_timeout(AT_LAST).unwrap();
        assert!(told.unwrap_err().contains("bad block"));
        assert!(syncer.horizon().check().is_err());
        assert!(reader.recv_timeout(AT_LAST).is_err(), "what was read may be lost");
        let later = commit(&syncer).recv_timeout(AT_LAST).unwrap();
        assert!(later.is_err(), "without asking the disk");
    }

    #[test]
    fn a_commit_that_failed_asks_nothing_of_the_disk() {
        let (syncer, _finish) = syncer_on_slow_disk();
        let (send, told) = mpsc::channel();
        syncer.begin_commit();
        syncer.committed((vec![Box::new(Asker(send))], Err("full".into())));
        assert_eq!(told.recv_timeout(AT_LAST).unwrap(), Err("full".into()));
        assert!(read(&syncer).recv_timeout(AT_LAST).is_ok());
    }
}
