//! The PostgreSQL engine. Each command has its own transaction and is retried after a conflict; hot
//! commands share a transaction in a batch.

mod batch;
pub(crate) mod connect;
mod error_text;
mod migrate;
mod pg_notify;
mod replicas;
mod replication;
mod transaction;
mod types;
mod usage;

pub use connect::logins::{Login, Logins};
pub use connect::settings::{Connections, DEADLINE_EXTRA, PerRole, PostgresSettings};
pub use migrate::Roles;
pub use replication::Replication;
pub use usage::{PoolUsage, WaitCounts};

use crate::sql::DatabaseRole;
use crate::sql::engine::plan::MigrationPlan;
use crate::sql::engine::tx::{Command, StoreContext};
use batch::CommandReply;
use batch::writer::{BATCHES_AT_ONCE, Writer};
use connect::connection::Connection;
use connect::pools::{Pool, Pools};
use podo_app::{Error, Result};
use replicas::{CaughtUp, Replicas};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use transaction::PostgresTx;

/// Attempts of a conflicting command before the caller gets the error.
const RUNS_MAX: u32 = 8;

/// Back-off before a retry, growing with each attempt. Short, because the conflicting transaction
/// has already committed.
const PAUSE: Duration = Duration::from_millis(3);

pub(crate) struct Postgres {
    pools: Pools,
    replicas: Replicas,
    /// The connections of the writer.
    for_batches: Pool,
    writer: Writer,
    context: Arc<StoreContext>,
    has_batches: bool,
    /// Commands retried after a conflict.
    n_run_again: AtomicU64,
    /// For connections opened later.
    settings: PostgresSettings,
}

impl Postgres {
    /// Connects and migrates the schema.
    pub(crate) async fn open(
        settings: &PostgresSettings,
        context: Arc<StoreContext>,
    ) -> std::result::Result<Postgres, String> {
        migrate::catch_up(settings).await?;
        let settings = &migrate::choose_roles(settings).await?;
        let (pools, replicas) = (Pools::new(settings)?, Replicas::new(settings)?);
        let for_batches = connect::pools::for_batches(settings, BATCHES_AT_ONCE)?;
        let writer = Writer::start(for_batches.clone(), context.clone())?;
        Ok(Postgres {
            pools,
            replicas,
            for_batches,
            writer,
            context,
            has_batches: true,
            n_run_again: AtomicU64::new(0),
            settings: settings.clone(),
        })
    }

    /// Migrates the schema and, if requested, the roles and their grants.
    pub(crate) async fn plan(
        settings: &PostgresSettings,
    ) -> std::result::Result<MigrationPlan, String> {
        migrate::plan(settings).await
    }

    pub(crate) async fn clock_ms(settings: &PostgresSettings) -> std::result::Result<i64, String> {
        migrate::clock_ms(settings).await
    }

    pub(crate) async fn replication(
        settings: &PostgresSettings,
    ) -> std::result::Result<Replication, String> {
        Replication::of(settings).await
    }

    pub(crate) async fn migrate(
        settings: &PostgresSettings,
        with_roles: bool,
    ) -> std::result::Result<Roles, String> {
        migrate::migrate_all(settings, with_roles).await
    }

    #[cfg(feature = "mutants")]
    pub(crate) async fn migrate_to(
        settings: &PostgresSettings,
        version: i32,
    ) -> std::result::Result<(), String> {
        migrate::migrate_to(settings, version).await
    }

    /// Lets replicas answer without proof that they have caught up.
    #[cfg(feature = "mutants")]
    pub(crate) fn without_proof_of_replicas(mut self) -> Postgres {
        self.replicas.are_unproven = true;
        self
    }

    /// Runs a statement of a test as the schema's owner.
    #[cfg(feature = "mutants")]
    pub(crate) async fn run_as_owner(
        settings: &PostgresSettings,
        sql: &str,
    ) -> std::result::Result<(), String> {
        migrate::run_as_owner(settings, sql).await
    }

    /// Runs every command in its own transaction, to measure what batching gains.
    #[cfg(feature = "mutants")]
    pub(crate) fn without_batches(self) -> Postgres {
        Postgres { has_batches: false, ..self }
    }

    pub(crate) fn n_run_again(&self) -> u64 {
        self.n_run_again.load(Ordering::Relaxed)
    }

    pub(crate) fn pools(&self) -> Vec<PoolUsage> {
        let on_primary = self.pools.all().iter().chain([&self.for_batches]);
        on_primary.chain(self.replicas.pools()).map(Pool::usage).collect()
    }

    /// Notifies the listening nodes.
    pub(crate) async fn notify_others(&self) -> Result<()> {
        let connection = self.pools.of(DatabaseRole::Worker).get().await?;
        pg_notify::notify(&connection).await
    }

    /// Listens on a dedicated connection until that connection is lost.
    pub(crate) async fn listen(&self, heard: impl Fn() + Send + Sync) -> Result<()> {
        pg_notify::listen(&self.settings, heard).await
    }

    /// Runs a command and returns after its commit.
    pub(crate) async fn write<W: Command>(&self, command: W) -> Result<W::Output> {
        let (mut run, start) = (0, Instant::now());
        loop {
            run += 1;
            let may_run_again = run < RUNS_MAX && start.elapsed() < self.settings.deadline;
            match self.run(&command).await {
                Err(Error::Conflict(_)) if may_run_again => {
                    self.n_run_again.fetch_add(1, Ordering::Relaxed);
                    let jitter = self.context.rng.number() % 4 + 1;
                    tokio::time::sleep(PAUSE * run * jitter as u32 / 2).await;
                }
                result => return result,
            }
        }
    }

    /// Runs a hot command in a batch with other queued commands, and returns after the commit.
    pub(crate) async fn write_in_batch<W: Command>(&self, command: W) -> Result<W::Output> {
        if !self.has_batches {
            return self.write(command).await;
        }
        match self.writer.write(command).await? {
            CommandReply::Done(result) => result,
            CommandReply::Alone(command) => self.write(command).await,
        }
    }

    /// Runs a query on one consistent snapshot.
    pub(crate) async fn read<W: Command>(&self, command: W) -> Result<W::Output> {
        const {
            let needs_more = W::REPLICAS_MAY_ANSWER && matches!(W::ROLE, DatabaseRole::User);
            assert!(!needs_more, "replicas use podo_readonly, which sees no personal data");
        }
        if W::REPLICAS_MAY_ANSWER
            && let Some(output) = self.ask_replica(&command).await
        {
            return Ok(output);
        }
        let connection = self.pools.of(W::ROLE).get().await?;
        self.answer(&command, connection).await
    }

    /// The replica's answer, or none if the primary must answer.
    async fn ask_replica<W: Command>(&self, command: &W) -> Option<W::Output> {
        let CaughtUp { connection, replica } = self.replicas.caught_up(&self.pools).await?;
        let answer = self.answer(command, connection);
        match tokio::time::timeout(self.replicas.patience(), answer).await {
            Ok(Ok(output)) => return Some(output),
            // Ask the primary as well: its refusal is authoritative.
            Ok(Err(Error::Refused(_))) => {}
            Ok(Err(error)) => replica.leave_out(&error.to_string()),
            Err(elapsed) => replica.leave_out(&elapsed.to_string()),
        }
        None
    }

    async fn answer<W: Command>(
        &self,
        command: &W,
        mut connection: Connection,
    ) -> Result<W::Output> {
        let transaction = connection.begin_read_only().await?;
        let mut tx = PostgresTx { transaction, context: &self.context };
        command.run(&mut tx).await
    }

    async fn run<W: Command>(&self, command: &W) -> Result<W::Output> {
        let mut connection = self.pools.of(W::ROLE).get().await?;
        let transaction = connection.begin().await?;
        let mut tx = PostgresTx { transaction, context: &self.context };
        let output = command.run(&mut tx).await?;
        tx.commit().await?;
        Ok(output)
    }
}
