//! Replicas answer lists and views, and never with older data than the primary had at the time.
//!
//! Before a replica answers, the node reads the primary's WAL position, which is cheap, and waits
//! briefly until the replica has replayed that far. So a reader sees everything committed before,
//! on any node: a fan who has just bought a ticket finds it. A replica that lags too far, doesn't
//! answer, was promoted or follows another primary is skipped for a while, and the primary answers.

use crate::sql::DatabaseRole;
use crate::sql::engine::postgres::connect::connection::Connection;
use crate::sql::engine::postgres::connect::pools::{Pool, PoolName, Pools};
use crate::sql::engine::postgres::connect::settings::{Connections, PostgresSettings};
use podo_app::Error;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How long a failed replica is skipped.
const PAUSE: Duration = Duration::from_secs(1);

/// Poll interval for a lagging replica.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// Timeout of a replica's answer, on top of the time for catching up.
const ANSWER_WITHIN: Duration = Duration::from_secs(1);

pub(crate) struct Replicas {
    all: Vec<Replica>,
    turn: AtomicUsize,
    position: Position,
    lag_max: Duration,
    /// Whether a test lets them answer without proof.
    #[cfg(feature = "mutants")]
    pub(crate) are_unproven: bool,
}

pub(crate) struct Replica {
    pool: Pool,
    /// When it can be used again after a failure.
    left_out_until: Mutex<Option<Instant>>,
}

/// A connection to a replica that has replayed everything the primary had when the query came in.
pub(crate) struct CaughtUp<'r> {
    pub(crate) connection: Connection,
    pub(crate) replica: &'r Replica,
}

impl Replicas {
    pub(crate) fn new(settings: &PostgresSettings) -> Result<Replicas, String> {
        let (role, size) = match settings.connections {
            Connections::Shared(size) => (None, size),
            Connections::PerRole(sizes) => (Some(DatabaseRole::ReadOnly), sizes.sales),
        };
        let replica = |(number, url): (usize, &String)| {
            let name = PoolName::of(role, format!("replica-{number}"));
            let pool = Pool::new(name, settings.replica(url, role)?, settings.deadline, size)?;
            Ok(Replica { pool, left_out_until: Mutex::new(None) })
        };
        let numbered = (1..).zip(&settings.replica_urls);
        Ok(Replicas {
            all: numbered.map(replica).collect::<Result<_, String>>()?,
            turn: AtomicUsize::new(0),
            position: Position::default(),
            lag_max: settings.replica_lag_max,
            #[cfg(feature = "mutants")]
            are_unproven: false,
        })
    }

    pub(crate) fn pools(&self) -> impl Iterator<Item = &Pool> {
        self.all.iter().map(|replica| &replica.pool)
    }

    /// How long a query may take before the primary answers instead.
    pub(crate) fn patience(&self) -> Duration {
        self.lag_max + ANSWER_WITHIN
    }

    /// A replica that has caught up, if there is one.
    pub(crate) async fn caught_up(&self, primary: &Pools) -> Option<CaughtUp<'_>> {
        let replica = self.pick()?;
        let look = self.catch_up(replica, primary);
        match tokio::time::timeout(self.patience(), look).await {
            Ok(Ok(connection)) => Some(CaughtUp { connection, replica }),
            Ok(Err(error)) => {
                replica.leave_out(&error.to_string());
                None
            }
            Err(elapsed) => {
                replica.leave_out(&elapsed.to_string());
                None
            }
        }
    }

    /// Round robin over the replicas that aren't skipped.
    fn pick(&self) -> Option<&Replica> {
        let start = self.turn.fetch_add(1, Ordering::Relaxed);
        let order = (0..self.all.len()).map(|step| &self.all[(start + step) % self.all.len()]);
        let now = Instant::now();
        order.into_iter().find(|replica| replica.is_in(now))
    }

    async fn catch_up(&self, replica: &Replica, primary: &Pools) -> Result<Connection, Error> {
        let connection = replica.pool.get().await?;
        #[cfg(feature = "mutants")]
        if self.are_unproven {
            return Ok(connection);
        }
        let there = self.position.of(primary).await?;
        let deadline = Instant::now() + self.lag_max;
        loop {
            match there.is_reached_by(&connection).await? {
                Reach::Yes => return Ok(connection),
                Reach::NotYet if Instant::now() < deadline => {
                    tokio::time::sleep(LOOK_EVERY).await;
                }
                Reach::NotYet => {
                    return Err(Error::Unavailable("the replica lags too far behind".into()));
                }
                Reach::Never => {
                    return Err(Error::Unavailable(
                        "the replica doesn't follow the primary".into(),
                    ));
                }
            }
        }
    }
}

impl Replica {
    fn is_in(&self, now: Instant) -> bool {
        let until = self.left_out_until.lock().expect("the lock is never poisoned");
        until.is_none_or(|until| until <= now)
    }

    /// Skips the replica after a failure, possibly in the middle of an answer.
    pub(crate) fn leave_out(&self, why: &str) {
        let until = Instant::now() + PAUSE;
        *self.left_out_until.lock().expect("the lock is never poisoned") = Some(until);
        tracing::warn!(why, "Replica failed; skipping it for a second, the primary answers");
    }
}

/// A WAL position of the primary.
#[derive(Clone, Debug, Default)]
struct WalPosition {
    timeline: String,
    lsn: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    Yes,
    NotYet,
    Never,
}

impl WalPosition {
    /// A server that isn't in recovery isn't a replica (any more). One on another timeline follows
    /// another primary, so its WAL position isn't comparable.
    async fn is_reached_by(&self, replica: &Connection) -> Result<Reach, Error> {
        let sql = "select pg_is_in_recovery()
                      and (select lpad(upper(to_hex(timeline_id)), 8, '0')
                             from pg_control_checkpoint()) = $1::text as is_ours,
                          coalesce(pg_last_wal_replay_lsn() >= $2::text::pg_lsn, false)
                            as is_replayed";
        let row = replica.query_one(sql, &[&self.timeline, &self.lsn]).await?;
        Ok(match (row.get("is_ours"), row.get("is_replayed")) {
            (true, true) => Reach::Yes,
            (true, false) => Reach::NotYet,
            (false, _) => Reach::Never,
        })
    }
}

/// The primary's WAL position. Concurrent readers share the next request while one is in flight.
#[derive(Default)]
struct Position {
    n_asked: AtomicU64,
    /// The latest position and the number of its request; locked while a request is in flight.
    latest: tokio::sync::Mutex<(u64, WalPosition)>,
}

impl Position {
    async fn of(&self, primary: &Pools) -> Result<WalPosition, Error> {
        // A request sent before this call may miss commits made before this call.
        let before = self.n_asked.load(Ordering::SeqCst);
        let mut latest = self.latest.lock().await;
        if latest.0 <= before {
            let number = self.n_asked.fetch_add(1, Ordering::SeqCst) + 1;
            *latest = (number, ask(primary).await?);
        }
        Ok(latest.1.clone())
    }
}

/// Uses the insert position and not the flushed one, which is right even if commits don't wait for
/// disks.
async fn ask(primary: &Pools) -> Result<WalPosition, Error> {
    let connection = primary.of(DatabaseRole::ReadOnly).get().await?;
    let sql = "select left(pg_walfile_name(lsn), 8) as timeline, lsn::text as lsn
                 from (select pg_current_wal_insert_lsn() as lsn) here";
    let row = connection.query_one(sql, &[]).await?;
    Ok(WalPosition { timeline: row.get("timeline"), lsn: row.get("lsn") })
}
