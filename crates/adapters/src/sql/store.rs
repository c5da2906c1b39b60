//! The store: which engine runs the commands.

use super::outbox;
use super::plan::Plan;
use super::postgres::{PoolUsage, Postgres, PostgresSettings, Replication, Roles};
use super::sqlite::{self, Sqlite};
#[cfg(feature = "mutants")]
use super::sqlite::{Edit, Inline, Weather};
use super::traced::Traced;
#[cfg(feature = "mutants")]
use super::tx::Guard;
use super::tx::Work;
use app::Result;
use app::ports::clock::Chance;
use std::path::Path;
use std::sync::Arc;
use tokio::sync::Notify;

pub struct SqlStore {
    engine: Engine,
    /// Rung when a message was written, here or elsewhere.
    told: Notify,
    /// Rung when a message was written here.
    wrote: Notify,
}

enum Engine {
    Sqlite(Sqlite),
    #[cfg(feature = "mutants")]
    Inline(Inline),
    Postgres(Box<Postgres>),
}

impl SqlStore {
    fn on(engine: Engine) -> SqlStore {
        SqlStore { engine, told: Notify::new(), wrote: Notify::new() }
    }

    /// A file has no clock of its own.
    pub(super) fn is_on_another_machine(&self) -> bool {
        matches!(self.engine, Engine::Postgres(_))
    }

    /// Whether tables that grow are cut by time.
    pub(super) fn has_partitions(&self) -> bool {
        matches!(self.engine, Engine::Postgres(_))
    }

    /// How often a command on PostgreSQL lost to another and was run again; on SQLite none does.
    pub fn n_run_again(&self) -> u64 {
        match &self.engine {
            Engine::Postgres(postgres) => postgres.n_run_again(),
            Engine::Sqlite(_) => 0,
            #[cfg(feature = "mutants")]
            Engine::Inline(_) => 0,
        }
    }

    /// How the connections to PostgreSQL are used; a file needs none.
    pub fn pools(&self) -> Vec<PoolUsage> {
        match &self.engine {
            Engine::Postgres(postgres) => postgres.pools(),
            Engine::Sqlite(_) => Vec::new(),
            #[cfg(feature = "mutants")]
            Engine::Inline(_) => Vec::new(),
        }
    }

    /// Resolves when a message was written since the last time.
    pub(super) async fn wait_for_message(&self) {
        self.told.notified().await;
    }

    /// Waits for a message of this process; then those who listen elsewhere are told.
    pub(super) async fn tell_other_processes(&self) -> Result<()> {
        self.wrote.notified().await;
        match &self.engine {
            Engine::Postgres(postgres) => postgres.tell_others().await,
            Engine::Sqlite(_) => std::future::pending().await,
            #[cfg(feature = "mutants")]
            Engine::Inline(_) => std::future::pending().await,
        }
    }

    /// Hears of messages of other processes until the line is lost.
    pub(super) async fn hear_other_processes(&self) -> Result<()> {
        match &self.engine {
            Engine::Postgres(postgres) => postgres.hear_others(|| self.told.notify_one()).await,
            Engine::Sqlite(_) => std::future::pending().await,
            #[cfg(feature = "mutants")]
            Engine::Inline(_) => std::future::pending().await,
        }
    }

    /// Rings if a message may have been written since then.
    fn ring_since(&self, n_pushed: u64) {
        if outbox::n_pushed() != n_pushed {
            self.told.notify_one();
            self.wrote.notify_one();
        }
    }

    /// Opens or creates a SQLite file and brings its schema up to date.
    pub fn sqlite(path: &Path, chance: Arc<dyn Chance>) -> std::result::Result<SqlStore, String> {
        Sqlite::open(path, chance, Vec::new()).map(|sqlite| SqlStore::on(Engine::Sqlite(sqlite)))
    }

    /// What this version would change in a SQLite file. Nothing is changed.
    pub fn plan_sqlite(path: &Path) -> std::result::Result<Plan, String> {
        Sqlite::plan(path)
    }

    /// The same on PostgreSQL.
    pub async fn plan_postgres(settings: &PostgresSettings) -> std::result::Result<Plan, String> {
        Postgres::plan(settings).await
    }

    /// What the clock of PostgreSQL says, in milliseconds since 1970.
    pub async fn clock_ms(settings: &PostgresSettings) -> std::result::Result<i64, String> {
        Postgres::clock_ms(settings).await
    }

    /// Whom a commit on PostgreSQL waits for.
    pub async fn replication(
        settings: &PostgresSettings,
    ) -> std::result::Result<Replication, String> {
        Postgres::replication(settings).await
    }

    /// Copies a SQLite file, which may be in use, into a new one.
    pub fn back_up_sqlite(from: &Path, to: &Path) -> std::result::Result<(), String> {
        sqlite::back_up(from, to)
    }

    /// The same with some guards off, for the tests that show what they are for.
    #[cfg(feature = "mutants")]
    pub fn sqlite_without(
        path: &Path,
        chance: Arc<dyn Chance>,
        off: Vec<Guard>,
    ) -> std::result::Result<SqlStore, String> {
        Sqlite::open(path, chance, off).map(|sqlite| SqlStore::on(Engine::Sqlite(sqlite)))
    }

    /// A store in memory that runs each command where it is asked, for the simulation.
    #[cfg(feature = "mutants")]
    pub fn in_memory(
        chance: Arc<dyn Chance>,
        (off, edits): (Vec<Guard>, Vec<Edit>),
        weather: Arc<dyn Weather>,
    ) -> std::result::Result<SqlStore, String> {
        Inline::open(chance, (off, edits), weather)
            .map(|inline| SqlStore::on(Engine::Inline(inline)))
    }

    /// Another node's way to a store in memory.
    #[cfg(feature = "mutants")]
    pub fn under(&self, weather: Arc<dyn Weather>) -> Option<SqlStore> {
        match &self.engine {
            Engine::Inline(inline) => Some(SqlStore::on(Engine::Inline(inline.under(weather)))),
            Engine::Sqlite(_) | Engine::Postgres(_) => None,
        }
    }

    /// What a statement finds in a store in memory; `$1` is what it is about.
    #[cfg(feature = "mutants")]
    pub fn look(&self, sql: &'static str, about: Option<uuid::Uuid>) -> Vec<Vec<String>> {
        match &self.engine {
            Engine::Inline(inline) => inline.look(sql, about),
            Engine::Sqlite(_) | Engine::Postgres(_) => Vec::new(),
        }
    }

    /// Connects to PostgreSQL and brings its schema up to date.
    pub async fn postgres(
        settings: &PostgresSettings,
        chance: Arc<dyn Chance>,
    ) -> std::result::Result<SqlStore, String> {
        let postgres = Postgres::open(settings, chance, Vec::new()).await?;
        Ok(SqlStore::on(Engine::Postgres(Box::new(postgres))))
    }

    /// The same with some guards off, for the tests that show what they are for.
    #[cfg(feature = "mutants")]
    pub async fn postgres_without(
        settings: &PostgresSettings,
        chance: Arc<dyn Chance>,
        off: Vec<Guard>,
    ) -> std::result::Result<SqlStore, String> {
        let postgres = Postgres::open(settings, chance, off).await?;
        Ok(SqlStore::on(Engine::Postgres(Box::new(postgres))))
    }

    /// The same store with a transaction of its own for every command, for the benchmark that shows
    /// what sharing one is worth.
    #[cfg(feature = "mutants")]
    pub fn without_batches(self) -> SqlStore {
        let engine = match self.engine {
            Engine::Postgres(postgres) => Engine::Postgres(Box::new(postgres.without_batches())),
            other @ (Engine::Sqlite(_) | Engine::Inline(_)) => other,
        };
        SqlStore::on(engine)
    }

    /// Brings PostgreSQL's schema up to date and, if asked, the roles and their rights: for the
    /// owner of the schema, before the nodes start.
    pub async fn migrate_postgres(
        settings: &PostgresSettings,
        with_roles: bool,
    ) -> std::result::Result<Roles, String> {
        Postgres::migrate(settings, with_roles).await
    }

    /// The schema of an earlier version, for the tests that bring one up to date.
    #[cfg(feature = "mutants")]
    pub async fn migrate_postgres_to(
        settings: &PostgresSettings,
        version: i32,
    ) -> std::result::Result<(), String> {
        Postgres::migrate_to(settings, version).await
    }

    pub(super) async fn write<W: Work>(&self, work: W) -> Result<W::Output> {
        let (work, n_pushed) = (Traced::new(work), outbox::n_pushed());
        let written = match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.write(work).await,
            #[cfg(feature = "mutants")]
            Engine::Inline(inline) => inline.run(work).await,
            Engine::Postgres(postgres) => postgres.write(work).await,
        };
        self.ring_since(n_pushed);
        written
    }

    /// The same for a command that comes in crowds.
    pub(super) async fn write_in_batch<W: Work>(&self, work: W) -> Result<W::Output> {
        let (work, n_pushed) = (Traced::new(work), outbox::n_pushed());
        let written = match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.write(work).await,
            #[cfg(feature = "mutants")]
            Engine::Inline(inline) => inline.run(work).await,
            Engine::Postgres(postgres) => postgres.write_in_batch(work).await,
        };
        self.ring_since(n_pushed);
        written
    }

    pub(super) async fn read<W: Work>(&self, work: W) -> Result<W::Output> {
        match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.read(work).await,
            #[cfg(feature = "mutants")]
            Engine::Inline(inline) => inline.run(work).await,
            Engine::Postgres(postgres) => postgres.read(work).await,
        }
    }
}
