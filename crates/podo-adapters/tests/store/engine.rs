//! The engine under test: SQLite in a file.

use podo_adapters::clock::SystemRng;
use podo_adapters::sql::{Guard, SqlStore};
use podo_app::operations::port::clock::Rng;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

pub(crate) struct Engine {
    folder: TempDir,
}

#[expect(clippy::unused_async, reason = "other engines wait for a server here")]
impl Engine {
    /// A store in its own folder, with some guards off.
    pub(crate) async fn open(rng: Arc<dyn Rng>, off: Vec<Guard>) -> (Engine, SqlStore) {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let engine = Engine { folder };
        let store = SqlStore::sqlite_without(&engine.path(), rng, &off).unwrap();
        (engine, store)
    }

    /// A second store on the same data.
    pub(crate) async fn again(&self, rng: Arc<dyn Rng>) -> SqlStore {
        SqlStore::sqlite(&self.path(), rng).unwrap()
    }

    /// Other engines refuse to delete records that are young by their own clock.
    pub(crate) fn let_records_go(&self) {}

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("podo.db")
    }

    /// A store over a copy of the file.
    pub(crate) fn open_copy(&self, path: &Path) -> SqlStore {
        SqlStore::sqlite(path, Arc::new(SystemRng::new())).unwrap()
    }

    /// The files as they are at this moment, as after `kill -9`: nothing is flushed or closed.
    pub(crate) fn copy_to(&self, path: &Path) {
        for suffix in ["", "-wal"] {
            let from = format!("{}{suffix}", self.path().display());
            std::fs::copy(from, format!("{}{suffix}", path.display())).unwrap();
        }
    }
}
