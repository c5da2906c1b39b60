//! The engines under test: PostgreSQL with a database per world, and Redis; one server of each for
//! this process.

use adapters::sql::{Guard, SqlStore};
use app::ports::clock::Chance;
use server::config::Config;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use testbed::{Postgres, Redis};

/// They end with the process: their guards see that we are gone.
static SERVER: OnceLock<Postgres> = OnceLock::new();
static REDIS: OnceLock<Redis> = OnceLock::new();

pub(crate) fn live_url() -> String {
    REDIS.get_or_init(|| Redis::start().unwrap()).url()
}

/// The database of a world is named after its folder, so that a restart finds it again.
pub(crate) fn store_url(data: &Path) -> String {
    let server = SERVER.get_or_init(|| Postgres::start().unwrap());
    let name = database(data);
    let known = format!("select 1 from pg_database where datname = '{name}'");
    if server.psql("postgres", &known).unwrap().trim().is_empty() {
        server.create_database(&name).unwrap();
    }
    server.url(&name)
}

fn database(data: &Path) -> String {
    let folder = data.file_name().unwrap().to_str().unwrap();
    folder.to_lowercase().replace('-', "_")
}

/// Everything that the server of this folder keeps, as text.
pub(crate) fn kept(data: &Path) -> Vec<u8> {
    SERVER.get().unwrap().dump(&database(data)).unwrap().into_bytes()
}

/// A server that follows the one of this process.
pub(crate) fn replica() -> Postgres {
    SERVER.get().unwrap().replica().unwrap()
}

/// The store that the settings name, with some guards off.
pub(crate) async fn store_without(
    config: &Config,
    chance: Arc<dyn Chance>,
    off: Vec<Guard>,
) -> SqlStore {
    let settings = config.postgres(&config.store_url).unwrap();
    SqlStore::postgres_without(&settings, chance, off).await.unwrap()
}

/// Makes the store forget that it was paid.
pub(crate) fn lose_a_payment(data: &Path) {
    let sql = "update payment_service.payments set captured = 0, status = 'FAILED'
                where status = 'CAPTURED'";
    SERVER.get().unwrap().psql(&database(data), sql).unwrap();
}
