//! Connections that wait for commands: one pool for all, or one per role.

use super::settings::{CONNECTION_WITHIN, Connections, PostgresSettings, Target};
use crate::sql::DatabaseRole;
use deadpool_postgres::{Manager, ManagerConfig, Pool, RecyclingMethod};

pub(super) enum Pools {
    Shared(Pool),
    /// In the order of `DatabaseRole::ALL`.
    PerRole(Vec<Pool>),
}

impl Pools {
    pub(super) fn new(settings: &PostgresSettings) -> Result<Pools, String> {
        match settings.connections {
            Connections::Shared(size) => {
                pool(settings.connect(&settings.url, None)?, size).map(Pools::Shared)
            }
            Connections::PerRole(sizes) => {
                let of = |role: DatabaseRole| {
                    pool(settings.connect(&settings.url, Some(role))?, sizes.of(role))
                };
                DatabaseRole::ALL.into_iter().map(of).collect::<Result<_, _>>().map(Pools::PerRole)
            }
        }
    }

    pub(super) fn of(&self, role: DatabaseRole) -> &Pool {
        match self {
            Pools::Shared(pool) => pool,
            Pools::PerRole(pools) => &pools[role as usize],
        }
    }
}

/// Connections of the batches, which belong to sales. Every statement of a hot command finds its
/// rows by an index, whatever the planner believes about tables that were empty a minute ago.
pub(super) fn for_batches(settings: &PostgresSettings, size: usize) -> Result<Pool, String> {
    let role = match settings.connections {
        Connections::Shared(_) => None,
        Connections::PerRole(_) => Some(DatabaseRole::Sales),
    };
    let mut target = settings.connect(&settings.url, role)?;
    let options = target.config.get_options().unwrap_or_default().to_owned();
    target.config.options(format!(
        "{options} -c plan_cache_mode=force_generic_plan -c jit=off -c enable_seqscan=off \
         -c enable_bitmapscan=off -c enable_hashjoin=off -c enable_mergejoin=off"
    ));
    pool(target, size)
}

pub(super) fn pool(target: Target, size: usize) -> Result<Pool, String> {
    let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
    Pool::builder(Manager::from_config(target.config, target.tls, recycling))
        .max_size(size)
        .wait_timeout(Some(CONNECTION_WITHIN))
        .runtime(deadpool_postgres::Runtime::Tokio1)
        .build()
        .map_err(|error| error.to_string())
}
