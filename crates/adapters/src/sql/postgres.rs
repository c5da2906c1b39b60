//! The store on PostgreSQL. A command has a transaction of its own and is run again when another
//! was faster; those that come in crowds share one.

mod batch;
mod transaction;
mod types;
mod writer;

use super::tx::{Guard, Work};
use app::ports::clock::Chance;
use app::{Error, Result};
use batch::Answer;
use deadpool_postgres::{Manager, ManagerConfig, Pool, PoolError, RecyclingMethod};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;
use tokio_postgres::NoTls;
use transaction::PostgresTx;
use writer::{BATCHES_AT_ONCE, Writer};

mod migrations {
    refinery::embed_migrations!("migrations/postgres");
}

/// Where unqualified names are looked for: the services' tables have different names, so the same
/// SQL runs as on SQLite.
const SEARCH_PATH: &str =
    "common, user_service, event_service, reservation_service, payment_service";

/// The key of the lock under which nodes that start together migrate one after the other.
const MIGRATION_LOCK: i64 = 0x706f_646f;

/// How often a command that lost to another is run again before its asker is told.
const RUNS_MAX: u32 = 8;

/// A pause before it runs again, growing; short, because what it lost to is done by then.
const PAUSE: Duration = Duration::from_millis(3);

/// How long a command may wait for a connection.
const CONNECTION_WITHIN: Duration = Duration::from_secs(5);

pub(super) struct Postgres {
    pool: Pool,
    writer: Writer,
    chance: Arc<dyn Chance>,
    off: Vec<Guard>,
    has_batches: bool,
}

impl Postgres {
    /// Connects and brings the schema up to date.
    pub(super) async fn open(
        url: &str,
        n_connections: usize,
        chance: Arc<dyn Chance>,
        off: Vec<Guard>,
    ) -> std::result::Result<Postgres, String> {
        let mut settings =
            tokio_postgres::Config::from_str(url).map_err(|error| format!("store_url: {error}"))?;
        // A command that hangs must not hold its locks for ever.
        settings.options(format!(
            "-c search_path={} -c statement_timeout=10s -c lock_timeout=3s \
             -c idle_in_transaction_session_timeout=15s",
            SEARCH_PATH.replace(' ', "")
        ));
        settings.connect_timeout(CONNECTION_WITHIN);
        migrate(&settings).await?;
        let pool = connections(&settings, n_connections)?;
        let for_batches = connections(&by_index(&settings), BATCHES_AT_ONCE)?;
        let writer = Writer::start(for_batches, chance.clone(), off.clone())?;
        let postgres = Postgres { pool, writer, chance, off, has_batches: true };
        postgres.drop_guards().await?;
        Ok(postgres)
    }

    /// Tests show what the last barrier is for by taking it away.
    async fn drop_guards(&self) -> std::result::Result<(), String> {
        if !self.off.contains(&Guard::OneClaimPerSeat) {
            return Ok(());
        }
        let client = self.pool.get().await.map_err(|error| error.to_string())?;
        let sql = "drop index if exists reservation_service.reservation_seats_one_claim";
        client.batch_execute(sql).await.map_err(|error| error.to_string())
    }

    /// Gives every command a transaction of its own, to show what sharing one is worth.
    #[cfg(feature = "mutants")]
    pub(super) fn without_batches(self) -> Postgres {
        Postgres { has_batches: false, ..self }
    }

    /// Runs a command; answers after it is committed.
    pub(super) async fn write<W: Work>(&self, work: W) -> Result<W::Output> {
        let mut run = 0;
        loop {
            run += 1;
            match self.run(&work).await {
                Err(Error::Conflict(_)) if run < RUNS_MAX => {
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
        let mut client = self.pool.get().await.map_err(pool_error)?;
        let begin = client
            .build_transaction()
            .isolation_level(tokio_postgres::IsolationLevel::RepeatableRead)
            .read_only(true);
        let transaction = begin.start().await.map_err(Error::unavailable)?;
        let mut tx = PostgresTx { transaction, chance: &*self.chance, off: &self.off };
        work.run(&mut tx).await
    }

    async fn run<W: Work>(&self, work: &W) -> Result<W::Output> {
        let mut client = self.pool.get().await.map_err(pool_error)?;
        let transaction = client.transaction().await.map_err(Error::unavailable)?;
        let mut tx = PostgresTx { transaction, chance: &*self.chance, off: &self.off };
        let output = work.run(&mut tx).await?;
        tx.commit().await?;
        Ok(output)
    }
}

/// Every statement of a hot command finds its rows by an index, whatever the planner believes about
/// tables that were empty a minute ago.
fn by_index(settings: &tokio_postgres::Config) -> tokio_postgres::Config {
    let mut settings = settings.clone();
    let options = settings.get_options().unwrap_or_default().to_owned();
    settings.options(format!(
        "{options} -c plan_cache_mode=force_generic_plan -c jit=off -c enable_seqscan=off \
         -c enable_hashjoin=off -c enable_mergejoin=off"
    ));
    settings
}

fn connections(
    settings: &tokio_postgres::Config,
    n_connections: usize,
) -> std::result::Result<Pool, String> {
    let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
    Pool::builder(Manager::from_config(settings.clone(), NoTls, recycling))
        .max_size(n_connections)
        .wait_timeout(Some(CONNECTION_WITHIN))
        .runtime(deadpool_postgres::Runtime::Tokio1)
        .build()
        .map_err(|error| error.to_string())
}

fn pool_error(error: PoolError) -> Error {
    Error::Unavailable(format!("no connection to the database: {error}"))
}

/// Nodes that start together wait for each other here; the lock goes with the connection.
async fn migrate(settings: &tokio_postgres::Config) -> std::result::Result<(), String> {
    let connected = settings.connect(NoTls).await;
    let (mut client, connection) =
        connected.map_err(|error| format!("cannot connect to the database: {error}"))?;
    let work = async move {
        let lock = "select pg_advisory_lock($1)";
        client.execute(lock, &[&MIGRATION_LOCK]).await.map_err(|error| error.to_string())?;
        let schema = "create schema if not exists common";
        client.batch_execute(schema).await.map_err(|error| error.to_string())?;
        let runner = migrations::migrations::runner();
        runner.run_async(&mut client).await.map_err(|error| error.to_string())?;
        Ok(())
    };
    // The connection works only while it is polled; it ends when the client is dropped.
    let (result, _) = futures::join!(work, connection);
    result
}
