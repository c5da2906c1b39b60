//! The engine under test: a dedicated PostgreSQL database, each service in its own role.

use crate::world::{Plan, World, dice};
use podo_adapters::sql::{Connections, Guard, PostgresSettings, SqlStore};
use podo_app::operations::port::clock::Rng;
use podo_testbed::Postgres;
use std::sync::Arc;

/// Connections of the store: fewer than the concurrent commands of the races.
const CONNECTIONS: usize = 32;

pub(crate) struct Engine {
    pub(crate) server: Postgres,
    database: String,
}

impl Engine {
    /// A store on the server that all tests of a run share, with some guards off.
    pub(crate) async fn open(rng: Arc<dyn Rng>, off: Vec<Guard>) -> (Engine, SqlStore) {
        let server = Postgres::shared().unwrap();
        let database = server.create_database_like("migrated", "store", migrate).unwrap();
        let engine = Engine { server, database };
        let store = SqlStore::postgres_without(&engine.settings(), rng, &off).await.unwrap();
        (engine, store)
    }

    /// The first database of a server.
    pub(crate) fn of(server: Postgres) -> Engine {
        Engine { server, database: "postgres".to_owned() }
    }

    /// A second store on the same data.
    pub(crate) async fn again(&self, rng: Arc<dyn Rng>) -> SqlStore {
        SqlStore::postgres(&self.settings(), rng).await.unwrap()
    }

    /// Runs SQL in this engine's database.
    pub(crate) fn psql(&self, sql: &str) -> String {
        self.server.psql(&self.database, sql).unwrap()
    }

    /// The database refuses to delete records that are young by its own clock, which tests can't
    /// move.
    pub(crate) fn let_records_go(&self) {
        let tables = [
            "reservation_service.reservations",
            "payment_service.payments",
            "payment_service.payment_history",
            "payment_service.refunds",
            "payment_service.wallet_charges",
        ];
        for table in tables {
            self.psql(&format!("alter table {table} disable trigger record_is_kept"));
        }
    }

    pub(crate) fn settings(&self) -> PostgresSettings {
        settings(&self.url())
    }

    pub(crate) fn url(&self) -> String {
        self.server.url(&self.database)
    }
}

/// A world on a dedicated server.
pub(crate) async fn alone() -> World {
    let rng = dice();
    let engine = Engine::of(Postgres::start().unwrap());
    let store = engine.again(rng.clone()).await;
    World::on(engine, store, rng, Plan::default()).await
}

/// Migrates an empty database as a store would. In a thread, because the caller may be inside a
/// runtime.
fn migrate(url: &str) {
    let settings = settings(url);
    let migrated = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(SqlStore::migrate_postgres(&settings, true)).unwrap();
    });
    migrated.join().unwrap();
}

pub(crate) fn settings(url: &str) -> PostgresSettings {
    PostgresSettings::new(url, Connections::per_role(CONNECTIONS))
}
