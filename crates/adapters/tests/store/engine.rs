//! The engine under test: SQLite in a file.

use adapters::clock::SystemChance;
use adapters::sql::{Guard, SqlStore};
use app::ports::clock::Chance;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

pub(crate) struct Engine {
    folder: TempDir,
}

#[expect(clippy::unused_async, reason = "other engines wait for a server here")]
impl Engine {
    /// A store in a folder of its own, with some guards off.
    pub(crate) async fn open(chance: Arc<dyn Chance>, off: Vec<Guard>) -> (Engine, SqlStore) {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let engine = Engine { folder };
        let store = SqlStore::sqlite_without(&engine.path(), chance, off).unwrap();
        (engine, store)
    }

    /// A second store on the same data.
    pub(crate) async fn again(&self, chance: Arc<dyn Chance>) -> SqlStore {
        SqlStore::sqlite(&self.path(), chance).unwrap()
    }

    /// Other engines refuse to delete records that are young by their own clock.
    pub(crate) fn let_records_go(&self) {}

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("podo.db")
    }

    /// A store over a copy of the file.
    pub(crate) fn open_copy(&self, path: &Path) -> SqlStore {
        SqlStore::sqlite(path, Arc::new(SystemChance::new())).unwrap()
    }

    /// The files as they are at this moment, as after `kill -9`: nothing is flushed or closed.
    pub(crate) fn copy_to(&self, path: &Path) {
        for suffix in ["", "-wal"] {
            let from = format!("{}{suffix}", self.path().display());
            std::fs::copy(from, format!("{}{suffix}", path.display())).unwrap();
        }
    }
}
