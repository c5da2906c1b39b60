//! Rate limits by address and by user and route: every request is answered from memory, and all
//! nodes share the budget of a key that is used much.
//!
//! A node counts what it lets through (`domain::rate_limit`). A key that took half a share on this
//! node becomes due: the next report of its group tells the shared bucket, whose answer says what the
//! other nodes took. Keys that are used little cost no call.

mod limiter;
mod node_state;

pub use limiter::{LimitKey, RateLimiter};

use crate::error::{Error, Result};
use crate::ports::clock::Clock;
use crate::ports::limits::{Group, SharedBuckets, Usage, fnv1a};
use domain::UserId;
use domain::rate_limit::{Nanos, TokenBucket};
use node_state::NodeState;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The least pause between two reports of a group: what becomes due meanwhile goes together.
pub const SYNC_INTERVAL: Duration = Duration::from_millis(20);

/// The pause after a report that failed.
pub const RETRY_INTERVAL: Duration = Duration::from_millis(500);

/// How long a report may take; then its keys go by this node's own limit.
const ANSWER_WITHIN: Duration = Duration::from_millis(250);

/// Most keys of each kind in one report, so that a flood of addresses is no flood of the live engine.
const KEYS_MAX: usize = 128;

/// A user's calls of one route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UserRoute {
    user: UserId,
    /// A hash of the route's template: there are some hundred, and a text would be copied per call.
    route: u64,
}

impl UserRoute {
    pub fn new(user: UserId, route: &str) -> UserRoute {
        UserRoute { user, route: fnv1a(route.as_bytes()) }
    }
}

impl LimitKey for UserRoute {
    fn name(&self) -> String {
        format!("user:{}:{:x}", self.user, self.route)
    }
}

impl LimitKey for IpAddr {
    fn name(&self) -> String {
        format!("ip:{self}")
    }
}

/// What the reports of this node did.
#[derive(Default)]
pub struct SyncTotals {
    pub reports: AtomicU64,
    pub failures: AtomicU64,
    pub keys: AtomicU64,
}

pub struct RateLimits {
    pub addresses: RateLimiter<IpAddr>,
    pub users: RateLimiter<UserRoute>,
    pub totals: SyncTotals,
    buckets: Arc<dyn SharedBuckets>,
    answer_within: Duration,
    node: Arc<NodeState>,
}

impl RateLimits {
    /// Limits of a node that knows of no others yet.
    pub fn new(buckets: Arc<dyn SharedBuckets>) -> RateLimits {
        RateLimits::answered_within(ANSWER_WITHIN, buckets)
    }

    /// The same with another time limit for reports.
    pub fn answered_within(answer_within: Duration, buckets: Arc<dyn SharedBuckets>) -> RateLimits {
        let node = Arc::new(NodeState::default());
        RateLimits {
            addresses: RateLimiter::of(node.clone()),
            users: RateLimiter::of(node.clone()),
            totals: SyncTotals::default(),
            buckets,
            answer_within,
            node,
        }
    }

    /// How many nodes share the budgets, this one included. With one nothing is reported.
    pub fn n_nodes(&self) -> u32 {
        self.node.n_nodes()
    }

    pub fn set_nodes(&self, n_nodes: u32) {
        self.node.set_nodes(n_nodes);
    }

    /// Resolves when keys of the group are due for a report.
    pub async fn due(&self, group: Group) {
        self.node.due(group).await;
    }

    /// Reports what this node took of the group's keys that are due, and takes over what the other
    /// nodes took.
    pub async fn sync(&self, group: Group, clock: &dyn Clock) -> Result<()> {
        let addresses = self.addresses.collect(group, KEYS_MAX)?;
        let users = self.users.collect(group, KEYS_MAX)?;
        let all = addresses.iter().map(|it| it.usage()).chain(users.iter().map(|it| it.usage()));
        let usage: Vec<Usage> = all.collect();
        if usage.is_empty() {
            return Ok(());
        }
        let answer = self.report(group, &usage, clock).await;
        self.note(group, usage.len(), &answer);
        let now = nanos(clock);
        match answer {
            Ok(buckets) => {
                let (of_addresses, of_users) = buckets.split_at(addresses.len());
                self.addresses.settle(addresses, of_addresses, now)?;
                self.users.settle(users, of_users, now)
            }
            Err(error) => {
                self.addresses.stand_alone(addresses)?;
                self.users.stand_alone(users)?;
                Err(error)
            }
        }
    }

    async fn report(
        &self,
        group: Group,
        usage: &[Usage],
        clock: &dyn Clock,
    ) -> Result<Vec<TokenBucket>> {
        let call = self.buckets.report(group, usage, clock.now());
        let answer = tokio::time::timeout(self.answer_within, call).await;
        let buckets = answer.map_err(|_late| Error::unavailable("no answer in time"))??;
        match buckets.len() == usage.len() {
            true => Ok(buckets),
            false => Err(Error::broken("an answer for other keys than were asked about")),
        }
    }

    fn note(&self, group: Group, n_keys: usize, answer: &Result<Vec<TokenBucket>>) {
        self.totals.reports.fetch_add(1, Ordering::Relaxed);
        match answer {
            Ok(_) => {
                self.totals.keys.fetch_add(n_keys as u64, Ordering::Relaxed);
                if self.node.note_success(group) {
                    tracing::info!("Rate limits are shared with the other nodes again");
                }
            }
            Err(error) => {
                self.totals.failures.fetch_add(1, Ordering::Relaxed);
                if self.node.note_failure(group) {
                    tracing::warn!(%error, "Rate limits count on this node alone");
                }
            }
        }
    }
}

fn nanos(clock: &dyn Clock) -> Nanos {
    clock.now().ms().saturating_mul(1_000_000)
}
