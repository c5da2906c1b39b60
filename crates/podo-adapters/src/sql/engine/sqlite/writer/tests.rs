//! A batch whose transaction SQLite rolls back by itself.

use crate::sql::engine::sqlite::writer::*;
use podo_app::operations::port::clock::Rng;
use rusqlite::params;
use std::path::Path;

/// Inserts a row of this many bytes.
struct Insert {
    id: i64,
    n_bytes: i64,
    failed: Option<String>,
}

impl Insert {
    fn boxed(id: i64, n_bytes: i64) -> Box<dyn QueuedCommand> {
        Box::new(Insert { id, n_bytes, failed: None })
    }
}

impl QueuedCommand for Insert {
    fn run(&mut self, tx: &mut SqliteTx<'_>) -> bool {
        let insert = "insert into things values (?1, zeroblob(?2))";
        tx.connection().execute(insert, params![self.id, self.n_bytes]).is_ok()
    }

    fn fail(&mut self, why: String) {
        self.failed = Some(why);
    }

    fn answer(self: Box<Self>, _: &std::result::Result<(), String>) {}
}

struct NoRng;

impl Rng for NoRng {
    fn fill(&self, _: &mut [u8]) {}
}

/// A database that is full after a few pages.
fn small_database(path: &Path) -> Connection {
    let connection = crate::sql::engine::sqlite::connection::open(path, false).unwrap();
    connection
        .execute_batch(
            "create table things (id integer primary key, bytes blob);
             pragma max_page_count = 20;",
        )
        .unwrap();
    connection
}

/// Runs the batch and tries to commit it. Returns the stored rows, and whether the commit was
/// acknowledged.
fn run_and_commit(batch: &mut [Box<dyn QueuedCommand>], mut n_wary: u32) -> (Vec<i64>, bool) {
    let folder = tempfile::tempdir().unwrap();
    let connection = small_database(&folder.path().join("small.db"));
    let names = ConstraintNames::load(&connection).unwrap();
    let context = StoreContext::new(Arc::new(NoRng));
    let mut tx = SqliteTx::on(&connection, &names, &context);
    let run = run_batch(&mut tx, batch, &mut n_wary);
    let is_committed = run.and_then(|()| commit(&mut tx)).is_ok();
    assert!(!tx.is_open(), "no transaction is left open");
    let mut ids = connection.prepare("select id from things order by id").unwrap();
    let ids = ids.query_map([], |row| row.get("id")).unwrap().collect::<rusqlite::Result<_>>();
    (ids.unwrap(), is_committed)
}

/// When the disk is full, SQLite may roll back the whole transaction inside the first statement of
/// a command. The commands after it must not run outside a transaction, because each would commit
/// alone while its client gets an error.
#[test]
fn a_command_after_a_full_disk_does_not_commit_on_its_own() {
    let (small, too_big) = (10, 1_000_000);
    for n_wary in [0, BATCHES_WARY] {
        let mut batch = vec![
            Insert::boxed(1, small),
            Insert::boxed(2, too_big),
            Insert::boxed(3, small),
            Insert::boxed(4, small),
        ];
        let (ids, is_committed) = run_and_commit(&mut batch, n_wary);
        if is_committed {
            assert_eq!(ids, [1, 3, 4], "only the command that failed is undone");
        } else {
            assert!(ids.is_empty(), "no client was answered, but {ids:?} are stored");
        }
    }
}

/// The control: a batch without failures is stored as a whole.
#[test]
fn a_batch_that_fits_is_committed() {
    let mut batch = vec![Insert::boxed(1, 10), Insert::boxed(2, 10)];
    assert_eq!(run_and_commit(&mut batch, 0), (vec![1, 2], true));
}
