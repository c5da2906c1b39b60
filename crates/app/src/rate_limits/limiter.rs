//! The buckets of one kind of key on this node.

use super::node_state::NodeState;
use crate::error::{Error, Result};
use crate::ports::limits::{Group, Usage};
use domain::Timestamp;
use domain::rate_limit::{Allowance, Nanos, NodeBucket, Quota, Report, TokenBucket};
use rustc_hash::FxBuildHasher;
use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hash};
use std::sync::{Arc, Mutex, MutexGuard};

/// Enough that the cores rarely meet at one lock.
const N_SHARDS: usize = 16;

/// Below this many keys a shard is not worth tidying.
const KEYS_MIN: usize = 1_024;

/// Most keys of a group that wait for a report; the others go by this node's own limit.
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
pub(super) struct Reporting<K> {
    due: Due<K>,
    report: Report,
}

impl<K> Reporting<K> {
    pub(super) fn usage(&self) -> Usage {
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
    pub(super) fn of(node: Arc<NodeState>) -> RateLimiter<K> {
        let (shards, due) = (Default::default(), Default::default());
        RateLimiter { shards, due, node }
    }
}

impl<K: LimitKey> RateLimiter<K> {
    /// Takes one token. Every request asks: one lock, and no memory but a new key's.
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

    /// The keys of a group that are due, with what this node took of each; at most so many.
    pub(super) fn collect(&self, group: Group, keys_max: usize) -> Result<Vec<Reporting<K>>> {
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

    /// Takes the answers over, in the order of the reports.
    pub(super) fn settle(
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

    /// The keys of a report that failed go by this node's own limit.
    pub(super) fn stand_alone(&self, reported: Vec<Reporting<K>>) -> Result<()> {
        for Reporting { due, report } in reported {
            self.shard(&due.key)?.with(&due.key, |bucket| bucket.report_failed(report));
        }
        Ok(())
    }

    /// Puts a key in line for a report. Where none can be expected to succeed soon, the key goes by
    /// this node's own limit meanwhile.
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

    /// Every request asks, so the choice is quick and can be predicted: a client that picks its
    /// addresses for one shard gains a busy lock and nothing else. The maps inside have random
    /// hashers.
    fn shard<Q: Hash + ?Sized>(&self, key: &Q) -> Result<MutexGuard<'_, Shard<K>>> {
        let hash = FxBuildHasher.hash_one(key);
        self.shards[hash as usize % N_SHARDS].lock().map_err(Error::broken)
    }
}

struct Shard<K> {
    buckets: HashMap<K, NodeBucket>,
    /// Tidies up when it holds this many keys.
    n_keys_tidy: usize,
}

impl<K> Default for Shard<K> {
    fn default() -> Shard<K> {
        Shard { buckets: HashMap::new(), n_keys_tidy: 0 }
    }
}

impl<K: Eq + Hash> Shard<K> {
    /// One look-up for a key that is known.
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

    /// Drops the keys of which nothing is known that matters. The limit doubles with what is left, so
    /// that each request pays for a constant share of the tidying.
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
