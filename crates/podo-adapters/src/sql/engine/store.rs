//! The store, on one of the two engines.

#[cfg(feature = "mutants")]
use crate::sql::engine::mutants::{DROP_ONE_CLAIM_PER_SEAT, Edit, Guard, Mutant};
use crate::sql::engine::plan::MigrationPlan;
use crate::sql::engine::postgres::{PoolUsage, Postgres, PostgresSettings, Replication, Roles};
use crate::sql::engine::sqlite;
use crate::sql::engine::sqlite::Sqlite;
#[cfg(feature = "mutants")]
use crate::sql::engine::sqlite::{FaultInjector, Inline};
use crate::sql::engine::traced::Traced;
use crate::sql::engine::tx::{Command, StoreContext};
use podo_app::Result;
use podo_app::operations::port::clock::Rng;
use std::path::Path;
use std::sync::Arc;
use tokio::sync::Notify;

pub struct SqlStore {
    engine: Engine,
    context: Arc<StoreContext>,
    /// What tests take away from its statements.
    #[cfg(feature = "mutants")]
    edits: Arc<[Edit]>,
    /// Notified when this process or another one writes a message.
    on_message: Notify,
    /// Notified when this process writes a message.
    on_own_message: Notify,
}

enum Engine {
    Sqlite(Sqlite),
    #[cfg(feature = "mutants")]
    Inline(Inline),
    Postgres(Box<Postgres>),
}

impl SqlStore {
    fn on(engine: Engine, context: Arc<StoreContext>) -> SqlStore {
        SqlStore {
            engine,
            context,
            #[cfg(feature = "mutants")]
            edits: Arc::new([]),
            on_message: Notify::new(),
            on_own_message: Notify::new(),
        }
    }

    /// A file has no clock of its own.
    pub(crate) fn is_on_another_machine(&self) -> bool {
        matches!(self.engine, Engine::Postgres(_))
    }

    /// Whether growing tables are partitioned by time.
    pub(crate) fn has_partitions(&self) -> bool {
        matches!(self.engine, Engine::Postgres(_))
    }

    /// Commands that PostgreSQL retried after a conflict. SQLite has no conflicts.
    pub fn n_run_again(&self) -> u64 {
        match &self.engine {
            Engine::Postgres(postgres) => postgres.n_run_again(),
            Engine::Sqlite(_) => 0,
            #[cfg(feature = "mutants")]
            Engine::Inline(_) => 0,
        }
    }

    /// Usage of the PostgreSQL connection pools; empty for SQLite.
    pub fn pools(&self) -> Vec<PoolUsage> {
        match &self.engine {
            Engine::Postgres(postgres) => postgres.pools(),
            Engine::Sqlite(_) => Vec::new(),
            #[cfg(feature = "mutants")]
            Engine::Inline(_) => Vec::new(),
        }
    }

    /// Resolves when a message has been written since the last call.
    pub(crate) async fn wait_for_message(&self) {
        self.on_message.notified().await;
    }

    /// Waits for a message of this process, then notifies the listening processes.
    pub(crate) async fn notify_other_processes(&self) -> Result<()> {
        self.on_own_message.notified().await;
        match &self.engine {
            Engine::Postgres(postgres) => postgres.notify_others().await,
            Engine::Sqlite(_) => std::future::pending().await,
            #[cfg(feature = "mutants")]
            Engine::Inline(_) => std::future::pending().await,
        }
    }

    /// Listens for messages of other processes until the connection is lost.
    pub(crate) async fn listen_to_other_processes(&self) -> Result<()> {
        match &self.engine {
            Engine::Postgres(postgres) => postgres.listen(|| self.on_message.notify_one()).await,
            Engine::Sqlite(_) => std::future::pending().await,
            #[cfg(feature = "mutants")]
            Engine::Inline(_) => std::future::pending().await,
        }
    }

    /// Notifies if a message may have been written since then.
    fn notify_since(&self, n_messages: u64) {
        if self.context.n_messages() != n_messages {
            self.on_message.notify_one();
            self.on_own_message.notify_one();
        }
    }

    /// Opens or creates a SQLite file and migrates its schema.
    pub fn sqlite(path: &Path, rng: Arc<dyn Rng>) -> std::result::Result<SqlStore, String> {
        let context = Arc::new(StoreContext::new(rng));
        let sqlite = Sqlite::open(path, context.clone())?;
        Ok(SqlStore::on(Engine::Sqlite(sqlite), context))
    }

    /// What this version would change in a SQLite file. Changes nothing.
    pub fn plan_sqlite(path: &Path) -> std::result::Result<MigrationPlan, String> {
        Sqlite::plan(path)
    }

    /// Like `plan_sqlite`, on PostgreSQL.
    pub async fn plan_postgres(
        settings: &PostgresSettings,
    ) -> std::result::Result<MigrationPlan, String> {
        Postgres::plan(settings).await
    }

    /// The clock of the PostgreSQL server, in milliseconds since 1970.
    pub async fn clock_ms(settings: &PostgresSettings) -> std::result::Result<i64, String> {
        Postgres::clock_ms(settings).await
    }

    /// What a commit on PostgreSQL waits for.
    pub async fn replication(
        settings: &PostgresSettings,
    ) -> std::result::Result<Replication, String> {
        Postgres::replication(settings).await
    }

    /// Copies a SQLite file, even one in use, into a new file.
    pub fn back_up_sqlite(from: &Path, to: &Path) -> std::result::Result<(), String> {
        sqlite::back_up(from, to)
    }

    /// Like `sqlite`, with some guards off, for tests that show what they prevent.
    #[cfg(feature = "mutants")]
    pub fn sqlite_without(
        path: &Path,
        rng: Arc<dyn Rng>,
        off: &[Guard],
    ) -> std::result::Result<SqlStore, String> {
        let mut store = SqlStore::sqlite(path, rng)?;
        if off.contains(&Guard::OneClaimPerSeat) {
            sqlite::run_on_file(path, DROP_ONE_CLAIM_PER_SEAT)?;
        }
        store.edits = off.iter().flat_map(|guard| guard.edits()).collect();
        Ok(store)
    }

    /// An in-memory store that runs each command on the caller's task, for the simulation.
    #[cfg(feature = "mutants")]
    pub fn in_memory(
        rng: Arc<dyn Rng>,
        off: &[Guard],
        edits: &[Edit],
        faults: Arc<dyn FaultInjector>,
    ) -> std::result::Result<SqlStore, String> {
        let context = Arc::new(StoreContext::new(rng));
        let inline = Inline::open(context.clone(), faults)?;
        if off.contains(&Guard::OneClaimPerSeat) {
            inline.run_statement(DROP_ONE_CLAIM_PER_SEAT)?;
        }
        let mut store = SqlStore::on(Engine::Inline(inline), context);
        let of_guards = off.iter().flat_map(|guard| guard.edits());
        store.edits = of_guards.chain(edits.iter().copied()).collect();
        Ok(store)
    }

    /// Another node's access to an in-memory store.
    #[cfg(feature = "mutants")]
    pub fn under(&self, faults: Arc<dyn FaultInjector>) -> Option<SqlStore> {
        match &self.engine {
            Engine::Inline(inline) => {
                let engine = Engine::Inline(inline.under(faults));
                let mut store = SqlStore::on(engine, self.context.clone());
                store.edits = self.edits.clone();
                Some(store)
            }
            Engine::Sqlite(_) | Engine::Postgres(_) => None,
        }
    }

    /// The rows that a statement finds in an in-memory store; `$1` is `about`.
    #[cfg(feature = "mutants")]
    pub fn look(&self, sql: &'static str, about: Option<uuid::Uuid>) -> Vec<Vec<String>> {
        match &self.engine {
            Engine::Inline(inline) => inline.look(sql, about),
            Engine::Sqlite(_) | Engine::Postgres(_) => Vec::new(),
        }
    }

    /// Connects to PostgreSQL and migrates its schema.
    pub async fn postgres(
        settings: &PostgresSettings,
        rng: Arc<dyn Rng>,
    ) -> std::result::Result<SqlStore, String> {
        let context = Arc::new(StoreContext::new(rng));
        let postgres = Postgres::open(settings, context.clone()).await?;
        Ok(SqlStore::on(Engine::Postgres(Box::new(postgres)), context))
    }

    /// Like `postgres`, with some guards off, for tests that show what they prevent.
    #[cfg(feature = "mutants")]
    pub async fn postgres_without(
        settings: &PostgresSettings,
        rng: Arc<dyn Rng>,
        off: &[Guard],
    ) -> std::result::Result<SqlStore, String> {
        if off.contains(&Guard::OneClaimPerSeat) {
            Postgres::run_as_owner(settings, DROP_ONE_CLAIM_PER_SEAT).await?;
        }
        let context = Arc::new(StoreContext::new(rng));
        let mut postgres = Postgres::open(settings, context.clone()).await?;
        if off.contains(&Guard::ReplicaIsProven) {
            postgres = postgres.without_proof_of_replicas();
        }
        let mut store = SqlStore::on(Engine::Postgres(Box::new(postgres)), context);
        store.edits = off.iter().flat_map(|guard| guard.edits()).collect();
        Ok(store)
    }

    /// The same store with a transaction per command, for the benchmark that measures what batching
    /// gains.
    #[cfg(feature = "mutants")]
    pub fn without_batches(self) -> SqlStore {
        let engine = match self.engine {
            Engine::Postgres(postgres) => Engine::Postgres(Box::new(postgres.without_batches())),
            other @ (Engine::Sqlite(_) | Engine::Inline(_)) => other,
        };
        SqlStore::on(engine, self.context)
    }

    /// Migrates PostgreSQL's schema and, if requested, the roles and their grants. The schema's
    /// owner runs it before the nodes start.
    pub async fn migrate_postgres(
        settings: &PostgresSettings,
        with_roles: bool,
    ) -> std::result::Result<Roles, String> {
        Postgres::migrate(settings, with_roles).await
    }

    /// The schema of an earlier version, for migration tests.
    #[cfg(feature = "mutants")]
    pub async fn migrate_postgres_to(
        settings: &PostgresSettings,
        version: i32,
    ) -> std::result::Result<(), String> {
        Postgres::migrate_to(settings, version).await
    }

    /// The command as the engine runs it: in a test, perhaps without one of its guards.
    #[cfg(feature = "mutants")]
    fn prepared<W: Command>(&self, command: W) -> Mutant<W> {
        Mutant::of(command, &self.edits)
    }

    /// The command as the engine runs it.
    #[cfg(not(feature = "mutants"))]
    fn prepared<W: Command>(&self, command: W) -> W {
        command
    }

    pub(crate) async fn write<W: Command>(&self, command: W) -> Result<W::Output> {
        let command = self.prepared(Traced::new(command));
        let n_messages = self.context.n_messages();
        let written = match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.write(command).await,
            #[cfg(feature = "mutants")]
            Engine::Inline(inline) => inline.run(command).await,
            Engine::Postgres(postgres) => postgres.write(command).await,
        };
        self.notify_since(n_messages);
        written
    }

    /// Like `write`, for a hot command that can share a transaction.
    pub(crate) async fn write_in_batch<W: Command>(&self, command: W) -> Result<W::Output> {
        let command = self.prepared(Traced::new(command));
        let n_messages = self.context.n_messages();
        let written = match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.write(command).await,
            #[cfg(feature = "mutants")]
            Engine::Inline(inline) => inline.run(command).await,
            Engine::Postgres(postgres) => postgres.write_in_batch(command).await,
        };
        self.notify_since(n_messages);
        written
    }

    pub(crate) async fn read<W: Command>(&self, command: W) -> Result<W::Output> {
        let command = self.prepared(command);
        match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.read(command).await,
            #[cfg(feature = "mutants")]
            Engine::Inline(inline) => inline.run(command).await,
            Engine::Postgres(postgres) => postgres.read(command).await,
        }
    }
}
