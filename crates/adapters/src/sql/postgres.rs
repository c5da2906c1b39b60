//! The store on PostgreSQL. A command has a transaction of its own and is run again when another
//! was faster; those that come in crowds share one.

mod batch;
mod bell;
mod complaints;
mod connection;
mod logins;
mod many;
mod migrate;
mod pools;
mod replicas;
mod replication;
mod send;
mod settings;
mod target;
mod tls;
mod transaction;
mod types;
mod usage;
mod writer;

pub use logins::{Login, Logins};
pub use migrate::Roles;
pub use replication::Replication;
pub use settings::{Connections, DEADLINE_EXTRA, PerRole, PostgresSettings};
pub use usage::{PoolUsage, WaitCounts};

use super::DatabaseRole;
use super::plan::Plan;
use super::tx::{Guard, Work};
use app::ports::clock::Chance;
use app::{Error, Result};
use batch::Answer;
use connection::Connection;
use pools::{Pool, Pools};
use replicas::{Proven, Replicas};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use transaction::PostgresTx;
use writer::{BATCHES_AT_ONCE, Writer};

/// How often a command that lost to another is run again before its asker is told.
const RUNS_MAX: u32 = 8;

/// A pause before it runs again, growing; short, because what it lost to is done by then.
const PAUSE: Duration = Duration::from_millis(3);

/// Tests show what the last barrier is for by taking it away.
const NO_BARRIER: &str = "drop index if exists reservation_service.reservation_seats_one_claim";

pub(super) struct Postgres {
    pools: Pools,
    replicas: Replicas,
    /// The connections of the writer.
    for_batches: Pool,
    writer: Writer,
    chance: Arc<dyn Chance>,
    off: Vec<Guard>,
    has_batches: bool,
    /// Commands that lost to another and were run again.
    n_run_again: AtomicU64,
    /// For connections that are opened later.
    settings: PostgresSettings,
}

impl Postgres {
    /// Connects and brings the schema up to date.
    pub(super) async fn open(
        settings: &PostgresSettings,
        chance: Arc<dyn Chance>,
        off: Vec<Guard>,
    ) -> std::result::Result<Postgres, String> {
        let extra = off.contains(&Guard::OneClaimPerSeat).then_some(NO_BARRIER);
        migrate::catch_up(settings, extra).await?;
        let settings = &migrate::choose_roles(settings).await?;
        let (pools, replicas) = (Pools::new(settings)?, Replicas::new(settings)?);
        let for_batches = pools::for_batches(settings, BATCHES_AT_ONCE)?;
        let writer = Writer::start(for_batches.clone(), chance.clone(), off.clone())?;
        Ok(Postgres {
            pools,
            replicas,
            for_batches,
            writer,
            chance,
            off,
            has_batches: true,
            n_run_again: AtomicU64::new(0),
            settings: settings.clone(),
        })
    }

    /// Brings the schema up to date and, if asked, the roles and their rights.
    pub(super) async fn plan(settings: &PostgresSettings) -> std::result::Result<Plan, String> {
        migrate::plan(settings).await
    }

    pub(super) async fn clock_ms(settings: &PostgresSettings) -> std::result::Result<i64, String> {
        migrate::clock_ms(settings).await
    }

    pub(super) async fn replication(
        settings: &PostgresSettings,
    ) -> std::result::Result<Replication, String> {
        Replication::of(settings).await
    }

    pub(super) async fn migrate(
        settings: &PostgresSettings,
        with_roles: bool,
    ) -> std::result::Result<Roles, String> {
        migrate::migrate_all(settings, with_roles).await
    }

    #[cfg(feature = "mutants")]
    pub(super) async fn migrate_to(
        settings: &PostgresSettings,
        version: i32,
    ) -> std::result::Result<(), String> {
        migrate::migrate_to(settings, version).await
    }

    /// Gives every command a transaction of its own, to show what sharing one is worth.
    #[cfg(feature = "mutants")]
    pub(super) fn without_batches(self) -> Postgres {
        Postgres { has_batches: false, ..self }
    }

    pub(super) fn n_run_again(&self) -> u64 {
        self.n_run_again.load(Ordering::Relaxed)
    }

    pub(super) fn pools(&self) -> Vec<PoolUsage> {
        let on_primary = self.pools.all().iter().chain([&self.for_batches]);
        on_primary.chain(self.replicas.pools()).map(Pool::usage).collect()
    }

    /// Wakes those who listen.
    pub(super) async fn tell_others(&self) -> Result<()> {
        let connection = self.pools.of(DatabaseRole::Worker).get().await?;
        bell::ring(&connection).await
    }

    /// Listens on a connection of its own until that is lost.
    pub(super) async fn hear_others(&self, heard: impl Fn() + Send + Sync) -> Result<()> {
        bell::hear(&self.settings, heard).await
    }

    /// Runs a command; answers after it is committed.
    pub(super) async fn write<W: Work>(&self, work: W) -> Result<W::Output> {
        let (mut run, start) = (0, Instant::now());
        loop {
            run += 1;
            let may_run_again = run < RUNS_MAX && start.elapsed() < self.settings.deadline;
            match self.run(&work).await {
                Err(Error::Conflict(_)) if may_run_again => {
                    self.n_run_again.fetch_add(1, Ordering::Relaxed);
                    let jitter = self.chance.number() % 4 + 1;
                    tokio::time::sleep(PAUSE * run * jitter as u32 / 2).await;
                }
                result => return result,
            }
        }
    }

    /// Runs a command that comes in crowds together with whatever else is waiting; answers after
    /// it is committed.
    pub(super) async fn write_in_batch<W: Work>(&self, work: W) -> Result<W::Output> {
        if !self.has_batches {
            return self.write(work).await;
        }
        match self.writer.write(work).await? {
            Answer::Done(result) => result,
            Answer::Alone(work) => self.write(work).await,
        }
    }

    /// Runs a question on one consistent view.
    pub(super) async fn read<W: Work>(&self, work: W) -> Result<W::Output> {
        const {
            let needs_more = W::REPLICAS_MAY_ANSWER && matches!(W::ROLE, DatabaseRole::User);
            assert!(!needs_more, "replicas are asked as podo_readonly: no personal data");
        }
        if W::REPLICAS_MAY_ANSWER
            && let Some(output) = self.ask_replica(&work).await
        {
            return Ok(output);
        }
        let connection = self.pools.of(W::ROLE).get().await?;
        self.answer(&work, connection).await
    }

    /// A replica's answer; none when the primary must be asked.
    async fn ask_replica<W: Work>(&self, work: &W) -> Option<W::Output> {
        let is_proof_asked = !self.off.contains(&Guard::ReplicaIsProven);
        let Proven { connection, replica } =
            self.replicas.proven(&self.pools, is_proof_asked).await?;
        let answer = self.answer(work, connection);
        match tokio::time::timeout(self.replicas.patience(), answer).await {
            Ok(Ok(output)) => return Some(output),
            // The primary says the same, and says it best.
            Ok(Err(Error::Refused(_))) => {}
            Ok(Err(error)) => replica.leave_out(&error.to_string()),
            Err(elapsed) => replica.leave_out(&elapsed.to_string()),
        }
        None
    }

    async fn answer<W: Work>(&self, work: &W, mut connection: Connection) -> Result<W::Output> {
        let transaction = connection.begin_read_only().await?;
        let mut tx = PostgresTx { transaction, chance: &*self.chance, off: &self.off };
        work.run(&mut tx).await
    }

    async fn run<W: Work>(&self, work: &W) -> Result<W::Output> {
        let mut connection = self.pools.of(W::ROLE).get().await?;
        let transaction = connection.begin().await?;
        let mut tx = PostgresTx { transaction, chance: &*self.chance, off: &self.off };
        let output = work.run(&mut tx).await?;
        tx.commit().await?;
        Ok(output)
    }
}
