//! Replicas answer lists and views, and never with less than the primary would have known.
//!
//! A question that a replica may answer first asks the primary how far its log reaches, which
//! costs it next to nothing, and then waits a moment until the replica has replayed that much. So
//! whoever asks sees everything that was committed before, on whichever node: a fan who has just
//! bought a ticket finds it. A replica that is too far behind, does not answer, was promoted or
//! follows another primary is left out for a while, and the primary answers.

use super::connection::Connection;
use super::pools::{Pool, PoolName, Pools};
use super::settings::{Connections, PostgresSettings};
use crate::sql::DatabaseRole;
use app::Error;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How long a replica that failed is left alone.
const PAUSE: Duration = Duration::from_secs(1);

/// How often a replica that is behind is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// A replica that takes longer than this, besides catching up, is not worth the wait.
const ANSWER_WITHIN: Duration = Duration::from_secs(1);

pub(super) struct Replicas {
    all: Vec<Replica>,
    turn: AtomicUsize,
    position: Position,
    lag_max: Duration,
}

pub(super) struct Replica {
    pool: Pool,
    /// When it may be asked again after it failed.
    left_out_until: Mutex<Option<Instant>>,
}

/// A connection to a replica that knows all that the primary knew when the question came.
pub(super) struct Proven<'r> {
    pub(super) connection: Connection,
    pub(super) replica: &'r Replica,
}

impl Replicas {
    pub(super) fn new(settings: &PostgresSettings) -> Result<Replicas, String> {
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
        })
    }

    pub(super) fn pools(&self) -> impl Iterator<Item = &Pool> {
        self.all.iter().map(|replica| &replica.pool)
    }

    /// How long a question may take before the primary is asked instead.
    pub(super) fn patience(&self) -> Duration {
        self.lag_max + ANSWER_WITHIN
    }

    /// A replica to ask, if there is one that has caught up.
    pub(super) async fn proven(&self, primary: &Pools, is_proof_asked: bool) -> Option<Proven<'_>> {
        let replica = self.pick()?;
        let look = self.catch_up(replica, primary, is_proof_asked);
        match tokio::time::timeout(self.patience(), look).await {
            Ok(Ok(connection)) => Some(Proven { connection, replica }),
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

    /// One after the other, without those that are left out.
    fn pick(&self) -> Option<&Replica> {
        let start = self.turn.fetch_add(1, Ordering::Relaxed);
        let order = (0..self.all.len()).map(|step| &self.all[(start + step) % self.all.len()]);
        let now = Instant::now();
        order.into_iter().find(|replica| replica.is_in(now))
    }

    async fn catch_up(
        &self,
        replica: &Replica,
        primary: &Pools,
        is_proof_asked: bool,
    ) -> Result<Connection, Error> {
        let connection = replica.pool.get().await?;
        if !is_proof_asked {
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
                Reach::NotYet => return Err(Error::Unavailable("it is too far behind".into())),
                Reach::Never => {
                    return Err(Error::Unavailable("it does not follow the primary".into()));
                }
            }
        }
    }
}

impl Replica {
    fn is_in(&self, now: Instant) -> bool {
        let until = self.left_out_until.lock().expect("nothing panics while it is locked");
        until.is_none_or(|until| until <= now)
    }

    /// It failed, perhaps in the middle of an answer.
    pub(super) fn leave_out(&self, why: &str) {
        let until = Instant::now() + PAUSE;
        *self.left_out_until.lock().expect("nothing panics while it is locked") = Some(until);
        tracing::warn!(why, "A replica is left out for a second; the primary answers");
    }
}

/// A place in the log of the primary.
#[derive(Clone, Debug, Default)]
struct Place {
    timeline: String,
    lsn: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    Yes,
    NotYet,
    Never,
}

impl Place {
    /// A server that does not recover is no replica (any more). One on another timeline follows a
    /// primary that is not ours any more, and its log says nothing about ours.
    async fn is_reached_by(&self, replica: &Connection) -> Result<Reach, Error> {
        let sql = "select pg_is_in_recovery()
                      and (select lpad(upper(to_hex(timeline_id)), 8, '0')
                             from pg_control_checkpoint()) = $1::text,
                          coalesce(pg_last_wal_replay_lsn() >= $2::text::pg_lsn, false)";
        let row = replica.query_one(sql, &[&self.timeline, &self.lsn]).await?;
        Ok(match (row.get(0), row.get(1)) {
            (true, true) => Reach::Yes,
            (true, false) => Reach::NotYet,
            (false, _) => Reach::Never,
        })
    }
}

/// How far the primary's log reaches. All who ask while one question is on its way share the next.
#[derive(Default)]
struct Position {
    n_asked: AtomicU64,
    /// The latest answer and the number of its question; held while a question is on its way.
    latest: tokio::sync::Mutex<(u64, Place)>,
}

impl Position {
    async fn of(&self, primary: &Pools) -> Result<Place, Error> {
        // A question that was asked before we came may miss what was committed before we came.
        let before = self.n_asked.load(Ordering::SeqCst);
        let mut latest = self.latest.lock().await;
        if latest.0 <= before {
            let number = self.n_asked.fetch_add(1, Ordering::SeqCst) + 1;
            *latest = (number, ask(primary).await?);
        }
        Ok(latest.1.clone())
    }
}

/// The insert position, not the flushed one: it is right even where commits do not wait for disks.
async fn ask(primary: &Pools) -> Result<Place, Error> {
    let connection = primary.of(DatabaseRole::ReadOnly).get().await?;
    let sql = "select left(pg_walfile_name(lsn), 8), lsn::text
                 from (select pg_current_wal_insert_lsn() as lsn) here";
    let row = connection.query_one(sql, &[]).await?;
    Ok(Place { timeline: row.get(0), lsn: row.get(1) })
}
