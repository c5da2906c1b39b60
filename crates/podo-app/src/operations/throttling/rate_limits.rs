//! Rate limits by address and by user and route. Every request is decided in memory, and all nodes
//! share the budget of a heavily used key.
//!
//! A node counts what it admits (`podo_domain::operations::rate_limit`). When a key has used half
//! of this node's share it becomes due: the next report of its group updates the shared bucket,
//! whose answer includes what the other nodes used. Rarely used keys cost no call.

mod limiter;
mod node_state;

pub use limiter::{LimitKey, RateLimiter};

use crate::error::{Error, Result};
use crate::operations::port::clock::Clock;
use crate::operations::throttling::limits::{Group, SharedBuckets, Usage, fnv1a};
use node_state::NodeState;
use podo_domain::UserId;
use podo_domain::operations::rate_limit::{Nanos, TokenBucket};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Minimum pause between two reports of a group; keys that become due meanwhile share one report.
pub const SYNC_INTERVAL: Duration = Duration::from_millis(20);

/// The pause after a failed report.
pub const RETRY_INTERVAL: Duration = Duration::from_millis(500);

/// Timeout of a report; after it, its keys use this node's own limit.
const ANSWER_WITHIN: Duration = Duration::from_millis(250);

/// Most keys of each kind in one report, so that a flood of addresses doesn't flood the live
/// engine.
const KEYS_MAX: usize = 128;

/// A user's calls to one route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UserRoute {
    user: UserId,
    /// A hash of the template: too few exist to collide, and a string would be copied per call.
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

/// An address, as the place of gates: their calls have a budget beside its ordinary one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GateAddress(pub IpAddr);

impl LimitKey for GateAddress {
    fn name(&self) -> String {
        format!("gate:{}", self.0)
    }
}

impl LimitKey for IpAddr {
    fn name(&self) -> String {
        format!("ip:{self}")
    }
}

/// Counters of this node's reports.
#[derive(Default)]
pub struct SyncTotals {
    pub reports: AtomicU64,
    pub failures: AtomicU64,
    pub keys: AtomicU64,
}

pub struct RateLimits {
    pub addresses: RateLimiter<IpAddr>,
    pub users: RateLimiter<UserRoute>,
    /// Boxed, because the context that owns it is moved.
    pub gates: Box<RateLimiter<GateAddress>>,
    pub totals: SyncTotals,
    buckets: Arc<dyn SharedBuckets>,
    answer_within: Duration,
    node: Arc<NodeState>,
}

impl RateLimits {
    /// Limits of a node that doesn't know of any others yet.
    pub fn new(buckets: Arc<dyn SharedBuckets>) -> RateLimits {
        RateLimits::answered_within(ANSWER_WITHIN, buckets)
    }

    /// The same with another timeout for reports.
    pub fn answered_within(answer_within: Duration, buckets: Arc<dyn SharedBuckets>) -> RateLimits {
        let node = Arc::new(NodeState::default());
        RateLimits {
            addresses: RateLimiter::of(node.clone()),
            users: RateLimiter::of(node.clone()),
            gates: Box::new(RateLimiter::of(node.clone())),
            totals: SyncTotals::default(),
            buckets,
            answer_within,
            node,
        }
    }

    /// How many nodes share the budgets, including this one. With one node nothing is reported.
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

    /// Reports this node's usage of the group's due keys and applies that of the other nodes.
    pub async fn sync(&self, group: Group, clock: &dyn Clock) -> Result<()> {
        let addresses = self.addresses.collect(group, KEYS_MAX)?;
        let users = self.users.collect(group, KEYS_MAX)?;
        let gates = self.gates.collect(group, KEYS_MAX)?;
        let all = addresses.iter().map(|it| it.usage()).chain(users.iter().map(|it| it.usage()));
        let usage: Vec<Usage> = all.chain(gates.iter().map(|it| it.usage())).collect();
        if usage.is_empty() {
            return Ok(());
        }
        let answer = self.report(group, &usage, clock).await;
        self.note(group, usage.len(), &answer);
        let now = nanos(clock);
        match answer {
            Ok(buckets) => {
                let (of_addresses, others) = buckets.split_at(addresses.len());
                let (of_users, of_gates) = others.split_at(users.len());
                self.addresses.settle(addresses, of_addresses, now)?;
                self.users.settle(users, of_users, now)?;
                self.gates.settle(gates, of_gates, now)
            }
            Err(error) => {
                self.addresses.stand_alone(addresses)?;
                self.users.stand_alone(users)?;
                self.gates.stand_alone(gates)?;
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
        let buckets = answer.map_err(|_late| Error::unavailable("the report timed out"))??;
        match buckets.len() == usage.len() {
            true => Ok(buckets),
            false => Err(Error::broken("the answer does not match the reported keys")),
        }
    }

    fn note(&self, group: Group, n_keys: usize, answer: &Result<Vec<TokenBucket>>) {
        self.totals.reports.fetch_add(1, Ordering::Relaxed);
        match answer {
            Ok(_) => {
                self.totals.keys.fetch_add(n_keys as u64, Ordering::Relaxed);
                if self.node.note_success(group) {
                    tracing::info!("Sharing rate limits with the other nodes again");
                }
            }
            Err(error) => {
                self.totals.failures.fetch_add(1, Ordering::Relaxed);
                if self.node.note_failure(group) {
                    tracing::warn!(%error, "Could not share rate limits; using local limits");
                }
            }
        }
    }
}

fn nanos(clock: &dyn Clock) -> Nanos {
    clock.now().ms().saturating_mul(1_000_000)
}
