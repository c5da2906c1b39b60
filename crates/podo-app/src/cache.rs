//! The cache: bounded, shared by all requests of a node, and filled by one caller per key.
//!
//! When it is full, it evicts entries that were read once before entries that are read often
//! (S3-FIFO), so a flood of random ids or searches doesn't empty it. Time is a parameter, as
//! everywhere: an entry with a TTL is an [`Expiring`] value.

use podo_domain::Timestamp;
use quick_cache::sync::DefaultLifecycle;
use quick_cache::{DefaultHashBuilder, OptionsBuilder, Weighter};
use std::hash::Hash;
use std::sync::atomic::{AtomicBool, Ordering};

/// Values are cloned out of it, so large ones are `Arc`s.
pub struct Cache<K, V> {
    entries: quick_cache::sync::Cache<K, V, Weigh<V>>,
}

struct Weigh<V>(fn(&V) -> u64);

impl<V> Clone for Weigh<V> {
    fn clone(&self) -> Weigh<V> {
        Weigh(self.0)
    }
}

impl<K, V> Weighter<K, V> for Weigh<V> {
    fn weight(&self, _key: &K, value: &V) -> u64 {
        (self.0)(value)
    }
}

impl<K: Eq + Hash + Clone, V: Clone> Cache<K, V> {
    /// Keeps about `n_entries`.
    pub fn of(n_entries: usize) -> Cache<K, V> {
        let options = OptionsBuilder::new()
            .estimated_items_capacity(n_entries)
            .weight_capacity(n_entries as u64)
            .build()
            .expect("both capacities are given");
        Cache::with(options, |_| 1)
    }

    /// Keeps values that weigh `capacity` together, in bytes or seats; a value that weighs more
    /// isn't kept.
    pub fn weighing(capacity: u64, weigh: fn(&V) -> u64) -> Cache<K, V> {
        const ENTRIES_ESTIMATED: usize = 1_000;
        let options = OptionsBuilder::new()
            .estimated_items_capacity(ENTRIES_ESTIMATED)
            .weight_capacity(capacity)
            // Shards would divide the capacity, and these caches have few entries.
            .shards(1)
            .build()
            .expect("both capacities are given");
        Cache::with(options, weigh)
    }

    fn with(options: quick_cache::Options, weigh: fn(&V) -> u64) -> Cache<K, V> {
        let entries = quick_cache::sync::Cache::with_options(
            options,
            Weigh(weigh),
            DefaultHashBuilder::default(),
            DefaultLifecycle::default(),
        );
        Cache { entries }
    }

    pub fn get(&self, key: &K) -> Option<V> {
        self.entries.get(key)
    }

    pub fn contains(&self, key: &K) -> bool {
        self.entries.contains_key(key)
    }

    pub fn insert(&self, key: K, value: V) {
        self.entries.insert(key, value);
    }

    pub fn remove(&self, key: &K) {
        self.entries.remove(key);
    }

    pub fn clear(&self) {
        self.entries.clear();
    }

    /// The entry, or a new default one, which all callers share.
    pub fn get_or_default(&self, key: &K) -> V
    where
        V: Default,
    {
        let made = self
            .entries
            .get_or_insert_with(key, || Ok::<_, std::convert::Infallible>(V::default()));
        match made {
            Ok(value) => value,
            Err(never) => match never {},
        }
    }

    /// The entry, loaded by one caller while the others wait. A failure isn't cached: the next
    /// caller tries again. What is removed while it is loaded isn't kept.
    pub async fn get_or_load<E>(
        &self,
        key: &K,
        load: impl Future<Output = Result<V, E>>,
    ) -> Result<V, E> {
        self.entries.get_or_insert_async(key, load).await
    }
}

/// A value with its expiry.
#[derive(Clone)]
pub struct Expiring<V> {
    pub value: V,
    pub until: Timestamp,
}

impl<K: Eq + Hash + Clone, V: Clone> Cache<K, Expiring<V>> {
    /// Like [`Cache::get_or_load`], and loads expired values again.
    pub async fn get_fresh<E>(
        &self,
        key: &K,
        now: Timestamp,
        load: impl Future<Output = Result<Expiring<V>, E>>,
    ) -> Result<V, E> {
        self.entries.remove_if(key, |cached| cached.until <= now);
        self.get_or_load(key, load).await.map(|cached| cached.value)
    }

    /// The value, unless it has expired.
    pub fn fresh(&self, key: &K, now: Timestamp) -> Option<V> {
        self.get(key).filter(|cached| now < cached.until).map(|cached| cached.value)
    }
}

/// Single flight: one caller refreshes a stale value while the others use it.
///
/// Marks the work as in progress while it lives. Dropping it, even if the caller is canceled
/// half-way, lets the next caller take over.
pub(crate) struct SingleFlight<'a>(&'a AtomicBool);

impl<'a> SingleFlight<'a> {
    /// Takes the flight, unless another caller has it.
    pub(crate) fn take(is_taken: &'a AtomicBool) -> Option<SingleFlight<'a>> {
        (!is_taken.swap(true, Ordering::Acquire)).then_some(SingleFlight(is_taken))
    }
}

impl Drop for SingleFlight<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::executor::block_on;
    use futures::future::join_all;
    use std::convert::Infallible;
    use std::sync::atomic::AtomicU32;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_ms(ms)
    }

    #[test]
    fn a_flood_of_random_keys_does_not_evict_what_is_read_often() {
        let cache: Cache<u64, u64> = Cache::of(1_000);
        for hot in 0..100 {
            cache.insert(hot, hot);
        }
        for random in 1_000..50_000 {
            cache.insert(random, random);
            assert_eq!(cache.get(&(random % 100)), Some(random % 100), "evicted at {random}");
        }
    }

    #[test]
    fn many_callers_load_a_value_once_and_a_failure_is_tried_again() {
        let (cache, n_loads) = (Cache::<u8, u32>::of(10), AtomicU32::new(0));
        let load = async |outcome: Result<u32, &'static str>| {
            n_loads.fetch_add(1, Ordering::SeqCst);
            tokio::task::yield_now().await;
            outcome
        };
        assert_eq!(block_on(cache.get_or_load(&1, load(Err("away")))), Err("away"));
        let all = (0..50).map(|_| cache.get_or_load(&1, load(Ok(7))));
        assert!(block_on(join_all(all)).into_iter().all(|loaded| loaded == Ok(7)));
        assert_eq!(n_loads.load(Ordering::SeqCst), 2);
    }

    #[test]
    fn what_is_invalidated_while_it_is_loaded_is_not_kept() {
        let cache = Cache::<u8, u32>::of(10);
        let load = async {
            cache.clear();
            Ok::<_, Infallible>(1)
        };
        assert_eq!(block_on(cache.get_or_load(&1, load)), Ok(1));
        assert_eq!(cache.get(&1), None);
    }

    #[test]
    fn an_expired_value_is_loaded_again() {
        let cache = Cache::<u8, Expiring<u32>>::of(10);
        let get = |now: i64, next: u32| {
            let load =
                async move { Ok::<_, Infallible>(Expiring { value: next, until: at(now + 100) }) };
            block_on(cache.get_fresh(&1, at(now), load)).unwrap()
        };
        assert_eq!([get(0, 1), get(99, 2), get(100, 3)], [1, 1, 3]);
        assert_eq!((cache.fresh(&1, at(199)), cache.fresh(&1, at(200))), (Some(3), None));
    }

    #[test]
    fn values_are_evicted_by_their_weight() {
        let cache = Cache::<u8, Vec<u8>>::weighing(100, |value| value.len() as u64);
        for key in 0..10 {
            cache.insert(key, vec![0; 30]);
        }
        let n_kept = (0..10).filter(|key| cache.contains(key)).count();
        assert!((1..=3).contains(&n_kept), "{n_kept}");
        cache.insert(99, vec![0; 101]);
        assert!(!cache.contains(&99));
    }

    #[test]
    fn one_caller_has_the_flight_and_dropping_it_frees_it() {
        let is_taken = AtomicBool::new(false);
        let first = SingleFlight::take(&is_taken);
        assert!(first.is_some() && SingleFlight::take(&is_taken).is_none());
        drop(first);
        assert!(SingleFlight::take(&is_taken).is_some());
    }
}
