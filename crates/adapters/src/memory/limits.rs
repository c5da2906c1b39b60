//! Rate limits in memory, by the generic cell rate algorithm (GCRA): one moment per key.
//!
//! The moment is when the key's bucket will be full again. A request moves it on by one share of
//! the period; a request that would move it further than a whole burst ahead is refused and moves
//! nothing.

use app::Result;
use app::error::Error;
use app::ports::limits::{self, Allowance, Quota};
use async_trait::async_trait;
use domain::{Timestamp, UserId};
use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};
use std::net::IpAddr;
use std::sync::Mutex;
use std::time::Duration;

/// Enough that the cores rarely meet at one lock.
const N_SHARDS: usize = 16;

/// Below this many keys a shard is not worth tidying.
const KEYS_MIN: usize = 1_024;

/// Limits by name, for the port.
#[derive(Default)]
pub struct Limits(Shards<String>);

/// Limits by address. Every request asks, so nobody waits and no name is made up for it.
#[derive(Default)]
pub struct AddressLimits(Shards<IpAddr>);

impl AddressLimits {
    pub fn take(&self, address: IpAddr, quota: Quota, now: Timestamp) -> Result<Allowance> {
        self.0.take(&address, quota, now)
    }
}

/// Limits by person and route, for calls of those who are logged in.
#[derive(Default)]
pub struct UserLimits(Shards<(UserId, String)>);

impl UserLimits {
    pub fn take(
        &self,
        user: UserId,
        route: &str,
        quota: Quota,
        now: Timestamp,
    ) -> Result<Allowance> {
        self.0.take(&(user, route.to_owned()), quota, now)
    }
}

struct Shards<K> {
    shards: [Mutex<Shard<K>>; N_SHARDS],
    hasher: RandomState,
}

impl<K> Default for Shards<K> {
    fn default() -> Shards<K> {
        Shards { shards: Default::default(), hasher: RandomState::new() }
    }
}

impl<K: Eq + Hash> Shards<K> {
    fn take<Q>(&self, key: &Q, quota: Quota, now: Timestamp) -> Result<Allowance>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ToOwned<Owned = K> + ?Sized,
    {
        let shard = &self.shards[self.hasher.hash_one(key) as usize % N_SHARDS];
        let mut shard = shard.lock().map_err(Error::broken)?;
        Ok(shard.take(key, quota, now.ms().saturating_mul(1_000_000)))
    }
}

/// Nanoseconds since 1970: a share of a period is rarely a whole number of milliseconds.
type Nanos = i64;

struct Shard<K> {
    full_at: HashMap<K, Nanos>,
    /// Tidies up when it holds this many keys.
    n_keys_tidy: usize,
}

impl<K> Default for Shard<K> {
    fn default() -> Shard<K> {
        Shard { full_at: HashMap::new(), n_keys_tidy: 0 }
    }
}

impl<K: Eq + Hash> Shard<K> {
    fn take<Q>(&mut self, key: &Q, quota: Quota, now: Nanos) -> Allowance
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ToOwned<Owned = K> + ?Sized,
    {
        self.tidy(now);
        match self.full_at.get_mut(key) {
            Some(full_at) => {
                let (next, allowance) = decide(*full_at, quota, now);
                *full_at = next;
                allowance
            }
            None => {
                let (next, allowance) = decide(now, quota, now);
                self.full_at.insert(key.to_owned(), next);
                allowance
            }
        }
    }

    /// Drops the keys whose bucket is full: they are as good as never seen. The limit doubles
    /// with what is left, so that each request pays for a constant share of the tidying.
    fn tidy(&mut self, now: Nanos) {
        if self.full_at.len() < self.n_keys_tidy.max(KEYS_MIN) {
            return;
        }
        self.full_at.retain(|_, full_at| now < *full_at);
        self.n_keys_tidy = self.full_at.len() * 2;
    }
}

/// When the bucket will be full after this request, and the answer to it.
fn decide(full_at: Nanos, quota: Quota, now: Nanos) -> (Nanos, Allowance) {
    if quota.burst == 0 {
        return (full_at, Allowance::No { retry_after: quota.period });
    }
    let burst = i64::from(quota.burst);
    let period = i64::try_from(quota.period.as_nanos()).unwrap_or(i64::MAX / 4);
    // Rounded up: a quota is never exceeded by a fraction.
    let share = period.saturating_add(burst - 1) / burst;
    let latest = now.saturating_add(share.saturating_mul(burst));
    // More than a burst ahead is the trace of a clock that was set back.
    let full_at = full_at.clamp(now, latest);
    let next = full_at.saturating_add(share);
    let over = next.saturating_sub(latest);
    if over > 0 {
        return (full_at, Allowance::No { retry_after: whole_ms(over) });
    }
    let left = if share == 0 { burst } else { -over / share };
    (next, Allowance::Yes { left: u32::try_from(left).unwrap_or(u32::MAX) })
}

/// Rounded up to the clock's step, so that whoever waits as told is not a moment too early.
fn whole_ms(nanos: Nanos) -> Duration {
    let ms = nanos.saturating_add(999_999) / 1_000_000;
    Duration::from_millis(u64::try_from(ms).unwrap_or(u64::MAX))
}

#[async_trait]
impl limits::Limits for Limits {
    async fn take(&self, key: &str, quota: Quota, now: Timestamp) -> Result<Allowance> {
        self.0.take(key, quota, now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Timestamp = Timestamp::from_ms(1_900_000_000_000);

    #[tokio::test]
    async fn keeps_the_contract() {
        limits::contract::check(&Limits::default(), 1, START).await;
    }

    #[test]
    fn keys_that_came_once_are_forgotten() {
        let mut shard = Shard::<String>::default();
        let quota = Quota { burst: 1, period: Duration::from_secs(1) };
        for second in 0..100 {
            for key in 0..1_000 {
                shard.take(format!("{second}:{key}").as_str(), quota, second * 1_000_000_000);
            }
        }
        assert!(shard.full_at.len() <= 3_000, "{}", shard.full_at.len());
    }

    #[test]
    fn a_quota_of_nothing_lets_nobody_through() {
        let quota = Quota { burst: 0, period: Duration::from_secs(1) };
        let answer = Shard::<String>::default().take("key", quota, 0);
        assert_eq!(answer, Allowance::No { retry_after: Duration::from_secs(1) });
    }
}
