//! The buckets of one kind of key on this node.

use crate::error::{Error, Result};
use crate::operations::throttling::limits::{Group, Usage};
use crate::operations::throttling::rate_limits::node_state::NodeState;
use podo_domain::Timestamp;
use podo_domain::operations::rate_limit::{
    Allowance, Nanos, NodeBucket, Quota, Report, TokenBucket,
};
use rustc_hash::FxBuildHasher;
use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hash};
use std::sync::{Arc, Mutex, MutexGuard};

/// Enough that cores rarely contend for a lock.
const N_SHARDS: usize = 16;

/// Below this many keys a shard isn't worth cleaning up.
const KEYS_MIN: usize = 1_024;

/// Most keys of a group that wait for a report; the others use this node's own limit.
const DUE_MAX: usize = 1_024;

/// A key that has the same name on every node.
pub trait LimitKey: Clone + Eq + Hash {
    fn name(&self) -> String;
}

impl LimitKey for String {
    fn name(&self) -> String {
        self.clone()
    }
}

pub struct RateLimiter<K> {
    shards: [Mutex<Shard<K>>; N_SHARDS],
    due: [Mutex<Vec<Due<K>>>; Group::COUNT],
    node: Arc<NodeState>,
}

/// A key that is due for a report.
struct Due<K> {
    key: K,
    name: String,
    quota: Quota,
}

/// A key that is being reported.
pub(crate) struct Reporting<K> {
    due: Due<K>,
    report: Report,
}

impl<K> Reporting<K> {
    pub(crate) fn usage(&self) -> Usage {
        Usage { key: self.due.name.clone(), report: self.report }
    }
}

/// A limiter that shares nothing.
impl<K> Default for RateLimiter<K> {
    fn default() -> RateLimiter<K> {
        RateLimiter::of(Arc::default())
    }
}

impl<K> RateLimiter<K> {
    pub(crate) fn of(node: Arc<NodeState>) -> RateLimiter<K> {
        let (shards, due) = (Default::default(), Default::default());
        RateLimiter { shards, due, node }
    }
}

impl<K: LimitKey> RateLimiter<K> {
    /// Takes one token. Runs on every request: one lock, and an allocation only for a new key.
    pub fn take<Q>(&self, key: &Q, quota: Quota, now: Timestamp) -> Result<Allowance>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ToOwned<Owned = K> + ?Sized,
    {
        let now = now.ms().saturating_mul(1_000_000);
        let n_nodes = self.node.n_nodes();
        let (allowance, becomes_due) = {
            let mut shard = self.shard(key)?;
            shard.tidy(quota, now);
            shard.with(key, |bucket| bucket.take(quota, n_nodes, now))
        };
        if becomes_due {
            let key: K = key.to_owned();
            self.enqueue(Due { name: key.name(), key, quota })?;
        }
        Ok(allowance)
    }

    /// The due keys of a group with this node's usage of each, at most `keys_max`.
    pub(crate) fn collect(&self, group: Group, keys_max: usize) -> Result<Vec<Reporting<K>>> {
        let due: Vec<Due<K>> = {
            let mut waiting = self.due[group.index()].lock().map_err(Error::broken)?;
            let n_taken = waiting.len().min(keys_max);
            let taken = waiting.drain(..n_taken).collect();
            if !waiting.is_empty() {
                self.node.wake(group);
            }
            taken
        };
        let n_nodes = self.node.n_nodes();
        let reporting = due.into_iter().map(|due| {
            let ask = |bucket: &mut NodeBucket| bucket.report(due.quota, n_nodes);
            let report = self.shard(&due.key)?.with(&due.key, ask);
            Ok(Reporting { due, report })
        });
        reporting.collect()
    }

    /// Applies the answers, in the order of the reports.
    pub(crate) fn settle(
        &self,
        reported: Vec<Reporting<K>>,
        buckets: &[TokenBucket],
        now: Nanos,
    ) -> Result<()> {
        for (Reporting { due, report }, shared) in reported.into_iter().zip(buckets) {
            let take_over = |bucket: &mut NodeBucket| bucket.reported(report, *shared, now);
            if self.shard(&due.key)?.with(&due.key, take_over) {
                self.enqueue(due)?;
            }
        }
        Ok(())
    }

    /// Makes the keys of a failed report use this node's own limit.
    pub(crate) fn stand_alone(&self, reported: Vec<Reporting<K>>) -> Result<()> {
        for Reporting { due, report } in reported {
            self.shard(&due.key)?.with(&due.key, |bucket| bucket.report_failed(report));
        }
        Ok(())
    }

    /// Queues a key for a report. While a report is unlikely to succeed soon, the key uses this
    /// node's own limit.
    fn enqueue(&self, due: Due<K>) -> Result<()> {
        let group = Group::of(&due.name);
        let key = due.key.clone();
        let is_waiting = {
            let mut waiting = self.due[group.index()].lock().map_err(Error::broken)?;
            let has_room = waiting.len() < DUE_MAX;
            if has_room {
                waiting.push(due);
            }
            has_room
        };
        if !is_waiting || self.node.is_failing(group) {
            self.shard(&key)?.with(&key, |bucket| bucket.stand_alone(is_waiting));
        }
        self.node.wake(group);
        Ok(())
    }

    /// Runs on every request, so the hash is fast and predictable: a client that picks addresses
    /// for one shard gains only a contended lock. The maps inside have random hashers.
    fn shard<Q: Hash + ?Sized>(&self, key: &Q) -> Result<MutexGuard<'_, Shard<K>>> {
        let hash = FxBuildHasher.hash_one(key);
        self.shards[hash as usize % N_SHARDS].lock().map_err(Error::broken)
    }
}

struct Shard<K> {
    buckets: HashMap<K, NodeBucket>,
    /// Cleans up at this many keys.
    n_keys_tidy: usize,
}

impl<K> Default for Shard<K> {
    fn default() -> Shard<K> {
        Shard { buckets: HashMap::new(), n_keys_tidy: 0 }
    }
}

impl<K: Eq + Hash> Shard<K> {
    /// One look-up for a known key.
    fn with<Q, T>(&mut self, key: &Q, act: impl FnOnce(&mut NodeBucket) -> T) -> T
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ToOwned<Owned = K> + ?Sized,
    {
        if let Some(bucket) = self.buckets.get_mut(key) {
            return act(bucket);
        }
        let mut bucket = NodeBucket::default();
        let result = act(&mut bucket);
        self.buckets.insert(key.to_owned(), bucket);
        result
    }

    /// Drops keys whose state no longer matters. The threshold is twice what is left, so that the
    /// amortised cost per request is constant.
    fn tidy(&mut self, quota: Quota, now: Nanos) {
        if self.buckets.len() < self.n_keys_tidy.max(KEYS_MIN) {
            return;
        }
        self.buckets.retain(|_, bucket| !bucket.is_idle(quota, now));
        self.n_keys_tidy = self.buckets.len() * 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_came_once_are_forgotten() {
        for n_nodes in [1, 3] {
            let mut shard = Shard::<String>::default();
            let quota = Quota::per_second(100);
            for second in 0..100 {
                let now = second * 1_000_000_000;
                for key in 0..1_000 {
                    shard.tidy(quota, now);
                    let key = format!("{second}:{key}");
                    shard.with(key.as_str(), |bucket| bucket.take(quota, n_nodes, now));
                }
            }
            assert!(shard.buckets.len() <= 3_000, "{}", shard.buckets.len());
        }
    }
}
