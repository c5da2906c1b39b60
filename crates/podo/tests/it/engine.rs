//! The engines under test: SQLite in the world's folder, and memory.

use podo::config::Config;
use podo_adapters::sql::{Guard, SqlStore};
use podo_app::operations::port::clock::Rng;
use std::path::Path;
use std::sync::Arc;

pub(crate) fn store_url(_data: &Path) -> String {
    "sqlite:podo.db".to_owned()
}

pub(crate) fn live_url() -> String {
    "memory:".to_owned()
}

/// The configured store, without some guards.
pub(crate) async fn store_without(config: &Config, rng: Arc<dyn Rng>, off: Vec<Guard>) -> SqlStore {
    SqlStore::sqlite_without(&config.data.join("podo.db"), rng, &off).unwrap()
}

/// All bytes that this folder's server stores.
pub(crate) fn kept(data: &Path) -> Vec<u8> {
    let entries = std::fs::read_dir(data).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.is_file()).flat_map(|path| std::fs::read(path).unwrap()).collect()
}

/// Other engines refuse to delete records that are young by their own clock.
pub(crate) fn let_records_go(_data: &Path) {}

/// Deletes a payment from the store.
pub(crate) fn lose_a_payment(data: &Path) {
    let database = rusqlite::Connection::open(data.join("podo.db")).unwrap();
    let sql = "update payments set captured = 0, status = 'FAILED' where status = 'CAPTURED'";
    assert_eq!(database.execute(sql, []).unwrap(), 1);
}
