//! Connection pools: one for all services, or one per role.

use crate::sql::DatabaseRole;
use crate::sql::engine::postgres::connect::connection::{Connection, Health};
use crate::sql::engine::postgres::connect::settings::{
    CONNECTION_WITHIN, Connections, PostgresSettings,
};
use crate::sql::engine::postgres::connect::target::Target;
use crate::sql::engine::postgres::usage::{PoolUsage, Waits};
use deadpool::managed::{self, Metrics, RecycleError, RecycleResult};
use deadpool_postgres::ClientWrapper;
use podo_app::{Error, Result as AppResult};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Connections to one target, opened on demand and kept.
#[derive(Clone)]
pub(crate) struct Pool {
    inner: managed::Pool<Manager>,
    health: Arc<Health>,
    name: PoolName,
    waits: Arc<Waits>,
}

/// The labels of a pool in metrics.
#[derive(Clone, Debug)]
pub(crate) struct PoolName {
    pool: &'static str,
    server: String,
}

impl PoolName {
    pub(crate) fn of(role: Option<DatabaseRole>, server: String) -> PoolName {
        PoolName { pool: role.map_or("all", DatabaseRole::service), server }
    }

    fn on_primary(role: Option<DatabaseRole>) -> PoolName {
        PoolName::of(role, "primary".to_owned())
    }
}

impl Pool {
    pub(crate) fn new(
        name: PoolName,
        target: Target,
        deadline: Duration,
        size: usize,
    ) -> Result<Pool, String> {
        let health = Health::new(deadline);
        let inner = managed::Pool::builder(Manager { target, health: health.clone() })
            .max_size(size)
            .build()
            .map_err(|error| error.to_string())?;
        Ok(Pool { inner, health, name, waits: Arc::default() })
    }

    pub(crate) async fn get(&self) -> AppResult<Connection> {
        let start = Instant::now();
        let why = match tokio::time::timeout(CONNECTION_WITHIN, self.inner.get()).await {
            Ok(Ok(client)) => {
                self.waits.note(start.elapsed());
                return Ok(Connection::new(client, self.health.clone()));
            }
            Ok(Err(error)) => {
                self.waits.note_failure();
                error.to_string()
            }
            Err(_late) => {
                self.waits.note_time_out();
                "all are in use, or the server does not answer".to_owned()
            }
        };
        Err(Error::Unavailable(format!("no connection to the database: {why}")))
    }

    pub(crate) fn usage(&self) -> PoolUsage {
        let status = self.inner.status();
        PoolUsage {
            pool: self.name.pool,
            server: self.name.server.clone(),
            max: status.max_size,
            in_use: status.size.saturating_sub(status.available),
            idle: status.available,
            waiting: status.waiting,
            waits: self.waits.counts(),
            timed_out: self.waits.n_timed_out(),
            failed: self.waits.n_failed(),
        }
    }
}

/// Opens connections, and decides which pooled ones can be used again.
pub(crate) struct Manager {
    target: Target,
    health: Arc<Health>,
}

impl managed::Manager for Manager {
    type Type = ClientWrapper;
    type Error = String;

    #[expect(clippy::disallowed_methods, reason = "it ends with the connection that it moves")]
    async fn create(&self) -> Result<ClientWrapper, String> {
        let (client, line) = self.target.connect().await?;
        let task = tokio::spawn(async move {
            if let Err(error) = line.await {
                tracing::debug!(%error, "A connection to the database ended");
            }
        });
        Ok(ClientWrapper::new(client, task))
    }

    async fn recycle(
        &self,
        client: &mut ClientWrapper,
        metrics: &Metrics,
    ) -> RecycleResult<String> {
        match !client.is_closed() && self.health.check(client, metrics).await {
            true => Ok(()),
            false => Err(RecycleError::message("the connection is gone")),
        }
    }
}

pub(crate) enum Pools {
    Shared(Pool),
    /// In the order of `DatabaseRole::ALL`.
    PerRole(Vec<Pool>),
}

impl Pools {
    pub(crate) fn new(settings: &PostgresSettings) -> Result<Pools, String> {
        match settings.connections {
            Connections::Shared(size) => {
                let (name, target) = (PoolName::on_primary(None), settings.primary(None)?);
                Pool::new(name, target, settings.deadline, size).map(Pools::Shared)
            }
            Connections::PerRole(sizes) => {
                let of = |role: DatabaseRole| {
                    let target = settings.primary(Some(role))?;
                    let name = PoolName::on_primary(Some(role));
                    Pool::new(name, target, settings.deadline, sizes.of(role))
                };
                DatabaseRole::ALL.into_iter().map(of).collect::<Result<_, _>>().map(Pools::PerRole)
            }
        }
    }

    pub(crate) fn of(&self, role: DatabaseRole) -> &Pool {
        match self {
            Pools::Shared(pool) => pool,
            Pools::PerRole(pools) => &pools[role as usize],
        }
    }

    pub(crate) fn all(&self) -> &[Pool] {
        match self {
            Pools::Shared(pool) => std::slice::from_ref(pool),
            Pools::PerRole(pools) => pools,
        }
    }
}

/// Connections for batches, which use the sales role. Hot statements must use an index, even if the
/// planner's statistics date from when the tables were empty.
pub(crate) fn for_batches(settings: &PostgresSettings, size: usize) -> Result<Pool, String> {
    let role = match settings.connections {
        Connections::Shared(_) => None,
        Connections::PerRole(_) => Some(DatabaseRole::Sales),
    };
    let target = settings.primary(role)?.with_options(
        "-c plan_cache_mode=force_generic_plan -c jit=off -c enable_seqscan=off \
         -c enable_bitmapscan=off -c enable_hashjoin=off -c enable_mergejoin=off",
    );
    let name = PoolName { pool: "batches", server: "primary".to_owned() };
    Pool::new(name, target, settings.deadline, size)
}
