//! The engine under test: a PostgreSQL server of its own, each service in its own role.

use adapters::sql::{Connections, Guard, PostgresSettings, SqlStore};
use app::ports::clock::Chance;
use std::sync::Arc;
use testbed::Postgres;

/// Connections of the store: fewer than the commands that the races send at once.
const CONNECTIONS: usize = 32;

pub(crate) struct Engine {
    pub(crate) server: Postgres,
}

impl Engine {
    /// A store on a fresh server, with some guards off.
    pub(crate) async fn open(chance: Arc<dyn Chance>, off: Vec<Guard>) -> (Engine, SqlStore) {
        let engine = Engine { server: Postgres::start().unwrap() };
        let store = SqlStore::postgres_without(&engine.settings(), chance, off).await.unwrap();
        (engine, store)
    }

    /// A second store on the same data.
    pub(crate) async fn again(&self, chance: Arc<dyn Chance>) -> SqlStore {
        SqlStore::postgres(&self.settings(), chance).await.unwrap()
    }

    pub(crate) fn settings(&self) -> PostgresSettings {
        settings(&self.server.url("postgres"))
    }
}

pub(crate) fn settings(url: &str) -> PostgresSettings {
    PostgresSettings::new(url, Connections::per_role(CONNECTIONS))
}
