//! PostgreSQL connection settings, and the options of every session.

use crate::sql::DatabaseRole;
use crate::sql::engine::postgres::connect::logins::Logins;
use crate::sql::engine::postgres::connect::target::{Target, Wanted};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// The schemas that unqualified names resolve in. The services' tables have distinct names, so the
/// same SQL runs on SQLite.
const SEARCH_PATH: &str = "common,user_service,event_service,reservation_service,payment_service";

/// How long a command may wait for a connection.
pub(crate) const CONNECTION_WITHIN: Duration = Duration::from_secs(5);

/// Ends a transaction that is idle for this long: its node may be dead, and others wait for its
/// locks.
const IDLE_MAX: Duration = Duration::from_secs(5);

/// The default of our deadline beyond the server's statement timeout: the server's own error says
/// more.
pub const DEADLINE_EXTRA: Duration = Duration::from_secs(2);

#[derive(Clone)]
pub struct PostgresSettings {
    /// With several hosts, connects to the one that accepts writes.
    pub url: String,
    pub connections: Connections,
    /// If the login lacks the roles, all services share its connections.
    pub are_roles_optional: bool,
    /// Each service uses its own login instead of switching to its role.
    pub logins: Option<Logins>,
    /// The server cancels a statement that takes longer.
    pub statement_timeout: Duration,
    /// The server cancels a statement that waits longer for a lock, and its command is retried.
    pub lock_timeout: Duration,
    /// Closes a connection whose answer takes longer. Longer than the statement timeout.
    pub deadline: Duration,
    /// Replicas that may answer lists.
    pub replica_urls: Vec<String>,
    /// Skips a replica that lags further behind.
    pub replica_lag_max: Duration,
    /// A file with the trusted CA certificates.
    pub ca: Option<PathBuf>,
}

/// The number of connections, and their roles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connections {
    /// All commands share them, as the URL's user.
    Shared(usize),
    /// Each role has its own connections and only its own grants.
    PerRole(PerRole),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PerRole {
    pub user: usize,
    pub event: usize,
    pub sales: usize,
    pub worker: usize,
    pub read_only: usize,
}

impl PostgresSettings {
    /// The default limits.
    pub fn new(url: &str, connections: Connections) -> PostgresSettings {
        let statement_timeout = Duration::from_secs(10);
        PostgresSettings {
            url: url.to_owned(),
            connections,
            are_roles_optional: false,
            logins: None,
            statement_timeout,
            deadline: statement_timeout + DEADLINE_EXTRA,
            lock_timeout: Duration::from_secs(3),
            replica_urls: Vec::new(),
            replica_lag_max: Duration::from_millis(100),
            ca: None,
        }
    }

    /// The primary, as a user that reads and doesn't migrate.
    pub(crate) fn session(&self) -> Result<Target, String> {
        let who = self.logins.as_ref().map(|_| DatabaseRole::Worker);
        self.target(&self.url, Wanted::Primary, who)
    }

    /// The primary; without a role, as the URL's user.
    pub(crate) fn primary(&self, role: Option<DatabaseRole>) -> Result<Target, String> {
        self.target(&self.url, Wanted::Primary, role)
    }

    /// A replica.
    pub(crate) fn replica(&self, url: &str, role: Option<DatabaseRole>) -> Result<Target, String> {
        self.target(url, Wanted::Any, role)
    }

    /// The connection's options. Timeouts keep a stuck command from holding its locks for ever. No
    /// statement starts parallel workers: those of a node are short, and starting workers for them
    /// costs more than they do.
    fn target(
        &self,
        url: &str,
        wanted: Wanted,
        role: Option<DatabaseRole>,
    ) -> Result<Target, String> {
        let mut options = format!(
            "-c search_path={SEARCH_PATH} -c statement_timeout={}ms -c lock_timeout={}ms \
             -c idle_in_transaction_session_timeout={}ms \
             -c max_parallel_workers_per_gather=0",
            self.statement_timeout.as_millis(),
            self.lock_timeout.as_millis(),
            IDLE_MAX.as_millis()
        );
        let target = Target::new(url, wanted, self.ca.as_deref())?;
        match (role, &self.logins) {
            (Some(role), Some(logins)) => {
                Ok(target.with_login(logins.of(role)).with_options(&options))
            }
            (Some(role), None) => {
                options.push_str(&format!(" -c role={}", role.as_str()));
                Ok(target.with_options(&options))
            }
            (None, _) => Ok(target.with_options(&options)),
        }
    }
}

impl Connections {
    /// Half for sales, an eighth for each of the others.
    pub fn per_role(n_all: usize) -> Connections {
        let (half, eighth) = ((n_all / 2).max(1), (n_all / 8).max(1));
        Connections::PerRole(PerRole {
            user: eighth,
            event: eighth,
            sales: half,
            worker: eighth,
            read_only: eighth,
        })
    }

    pub(crate) fn has_roles(self) -> bool {
        matches!(self, Connections::PerRole(_))
    }

    /// The same total, shared by all services.
    pub(crate) fn shared(self) -> Connections {
        match self {
            Connections::Shared(size) => Connections::Shared(size),
            Connections::PerRole(sizes) => {
                Connections::Shared(DatabaseRole::ALL.into_iter().map(|it| sizes.of(it)).sum())
            }
        }
    }
}

impl PerRole {
    pub(crate) fn of(&self, role: DatabaseRole) -> usize {
        match role {
            DatabaseRole::User => self.user,
            DatabaseRole::Event => self.event,
            DatabaseRole::Sales => self.sales,
            DatabaseRole::Worker => self.worker,
            DatabaseRole::ReadOnly => self.read_only,
        }
    }
}

/// Reads `user=4, event=2, sales=16, worker=4, readonly=2`: all of them, in any order.
impl FromStr for PerRole {
    type Err = String;

    fn from_str(text: &str) -> Result<PerRole, String> {
        let mut asked = [None; DatabaseRole::ALL.len()];
        for part in text.split(',') {
            let (name, number) = part.split_once('=').ok_or_else(|| format!("`{part}`"))?;
            let name = format!("podo_{}", name.trim());
            let place = DatabaseRole::ALL.iter().position(|role| role.as_str() == name);
            let place = place.ok_or_else(|| format!("there is no role `{name}`"))?;
            let number = number.trim().parse().ok().filter(|number| (1..=1_000).contains(number));
            asked[place] = Some(number.ok_or_else(|| format!("`{part}` must be 1 to 1000"))?);
        }
        let [Some(user), Some(event), Some(sales), Some(worker), Some(read_only)] = asked else {
            return Err("name all of user, event, sales, worker, readonly".into());
        };
        Ok(PerRole { user, event, sales, worker, read_only })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_connections_sell() {
        let split = PerRole { user: 2, event: 2, sales: 8, worker: 2, read_only: 2 };
        assert_eq!(Connections::per_role(16), Connections::PerRole(split));
        let least = PerRole { user: 1, event: 1, sales: 1, worker: 1, read_only: 1 };
        assert_eq!(Connections::per_role(1), Connections::PerRole(least));
    }

    #[test]
    fn a_split_names_every_role() {
        let text = "sales=30, user=1,event=2,worker=3, readonly=4";
        let split = PerRole { user: 1, event: 2, sales: 30, worker: 3, read_only: 4 };
        assert_eq!(text.parse(), Ok(split));
        for wrong in ["", "sales", "sales=30", "sales=0", "sale=1", "sales=many"] {
            assert!(wrong.parse::<PerRole>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_connection_keeps_the_options_of_its_url() {
        let settings = PostgresSettings::new("", Connections::Shared(1));
        let url = "postgres://podo@db/podo?options=-c%20work_mem%3D8MB";
        let target = settings.replica(url, Some(DatabaseRole::Sales)).unwrap();
        let options = target.servers()[0].get_options().unwrap();
        assert!(options.starts_with("-c work_mem=8MB "), "{options}");
        assert!(options.contains(" -c search_path=common,"), "{options}");
        assert!(options.ends_with(" -c role=podo_sales"), "{options}");
    }
}
