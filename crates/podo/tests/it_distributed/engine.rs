//! The engines under test: PostgreSQL with a database per world, shared by all tests of a run, and
//! a Redis per process.

use podo::config::Config;
use podo_adapters::sql::{Connections, Guard, PostgresSettings, SqlStore};
use podo_app::operations::port::clock::Rng;
use podo_testbed::{Postgres, Redis};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

/// They end with the process or with the run: their guards detect that it is gone.
static SERVER: OnceLock<Postgres> = OnceLock::new();
static REDIS: OnceLock<Redis> = OnceLock::new();

pub(crate) fn live_url() -> String {
    REDIS.get_or_init(|| Redis::start().unwrap()).url()
}

/// The worlds' databases by folder, so that a restart finds its own again.
static DATABASES: Mutex<BTreeMap<PathBuf, String>> = Mutex::new(BTreeMap::new());

pub(crate) fn store_url(data: &Path) -> String {
    server().url(&database(data))
}

fn server() -> &'static Postgres {
    SERVER.get_or_init(|| Postgres::shared().unwrap())
}

/// Uses a server that no other process uses, if called before the first world.
pub(crate) fn be_alone() {
    SERVER.get_or_init(|| Postgres::start().unwrap());
}

fn database(data: &Path) -> String {
    let mut databases = DATABASES.lock().unwrap();
    let make = || server().create_database_like("migrated", "world", migrate).unwrap();
    databases.entry(data.to_owned()).or_insert_with(make).clone()
}

/// Migrates an empty database as a server would. In a thread, because a test's runtime may be
/// running.
fn migrate(url: &str) {
    let settings = PostgresSettings::new(url, Connections::per_role(8));
    let migrated = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(SqlStore::migrate_postgres(&settings, true)).unwrap();
    });
    migrated.join().unwrap();
}

/// Everything that this folder's server stores, as text.
pub(crate) fn kept(data: &Path) -> Vec<u8> {
    server().dump(&database(data)).unwrap().into_bytes()
}

/// A replica of this process's server.
pub(crate) fn replica() -> Postgres {
    server().replica().unwrap()
}

/// The configured store, without some guards.
pub(crate) async fn store_without(config: &Config, rng: Arc<dyn Rng>, off: Vec<Guard>) -> SqlStore {
    let settings = config.postgres(&config.store_url).unwrap();
    SqlStore::postgres_without(&settings, rng, &off).await.unwrap()
}

/// Runs SQL in the database of this folder's server.
pub(crate) fn psql(data: &Path, sql: &str) -> std::io::Result<String> {
    server().psql(&database(data), sql)
}

/// The database refuses to delete records that are young by its own clock, which tests cannot move.
pub(crate) fn let_records_go(data: &Path) {
    let tables = "select format('%I.%I', n.nspname, c.relname) from pg_trigger t
                    join pg_class c on c.oid = t.tgrelid join pg_namespace n on n.oid = c.relnamespace
                   where t.tgname = 'record_is_kept'";
    let tables = psql(data, tables).unwrap();
    assert_eq!(tables.lines().count(), 5);
    for table in tables.lines() {
        let sql = format!("alter table {table} disable trigger record_is_kept");
        psql(data, &sql).unwrap();
    }
}

/// Deletes a payment from the store.
pub(crate) fn lose_a_payment(data: &Path) {
    let sql = "update payment_service.payments set captured = 0, status = 'FAILED'
                where status = 'CAPTURED'";
    server().psql(&database(data), sql).unwrap();
}
