//! The engine under test: a PostgreSQL server of its own.

use adapters::sql::{Guard, SqlStore};
use app::ports::clock::Chance;
use std::sync::Arc;
use testbed::Postgres;

/// Connections of the store: fewer than the commands that the races send at once.
const CONNECTIONS: usize = 16;

pub(crate) struct Engine {
    server: Postgres,
}

impl Engine {
    /// A store on a fresh server, with some guards off.
    pub(crate) async fn open(chance: Arc<dyn Chance>, off: Vec<Guard>) -> (Engine, SqlStore) {
        let server = Postgres::start().unwrap();
        let url = server.url("postgres");
        let store = SqlStore::postgres_without(&url, CONNECTIONS, chance, off).await.unwrap();
        (Engine { server }, store)
    }

    /// A second store on the same data.
    pub(crate) async fn again(&self, chance: Arc<dyn Chance>) -> SqlStore {
        let url = self.server.url("postgres");
        SqlStore::postgres(&url, CONNECTIONS, chance).await.unwrap()
    }
}
