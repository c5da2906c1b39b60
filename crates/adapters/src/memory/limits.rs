//! Rate limits in memory, by the generic cell rate algorithm (GCRA): one moment per key.
//!
//! The moment is when the key's bucket will be full again. A request moves it on by one share of
//! the period; a request that would move it further than a whole burst ahead is refused and moves
//! nothing.

use app::Result;
use app::error::Error;
use app::ports::limits::{self, Allowance, Quota};
use async_trait::async_trait;
use domain::Timestamp;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Mutex;
use std::time::Duration;

/// Enough that the cores rarely meet at one lock.
const N_SHARDS: usize = 16;

/// Below this many keys a shard is not worth tidying.
const KEYS_MIN: usize = 1_024;

#[derive(Default)]
pub struct Limits {
    shards: [Mutex<Shard>; N_SHARDS],
}

impl Limits {
    fn shard(&self, key: &str) -> &Mutex<Shard> {
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        &self.shards[hasher.finish() as usize % N_SHARDS]
    }
}

/// Nanoseconds since 1970: a share of a period is rarely a whole number of milliseconds.
type Nanos = i128;

#[derive(Default)]
struct Shard {
    full_at: HashMap<String, Nanos>,
    /// Tidies up when it holds this many keys.
    n_keys_tidy: usize,
}

impl Shard {
    fn take(&mut self, key: &str, quota: Quota, now: Nanos) -> Allowance {
        self.tidy(now);
        let full_at = self.full_at.get(key).copied().unwrap_or(now);
        let (next, allowance) = decide(full_at, quota, now);
        match self.full_at.get_mut(key) {
            Some(known) => *known = next,
            None => {
                self.full_at.insert(key.to_owned(), next);
            }
        }
        allowance
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
    let period = i128::try_from(quota.period.as_nanos()).unwrap_or(i128::MAX / 4);
    if quota.burst == 0 {
        return (full_at, Allowance::No { retry_after: quota.period });
    }
    let burst = i128::from(quota.burst);
    // Rounded up: a quota is never exceeded by a fraction.
    let share = (period + burst - 1) / burst;
    // More than a burst ahead is the trace of a clock that was set back.
    let full_at = full_at.clamp(now, now + share * burst);
    let next = full_at + share;
    let over = next - (now + share * burst);
    if over > 0 {
        return (full_at, Allowance::No { retry_after: whole_ms(over) });
    }
    let left = if share == 0 { burst } else { -over / share };
    (next, Allowance::Yes { left: u32::try_from(left).unwrap_or(u32::MAX) })
}

/// Rounded up to the clock's step, so that whoever waits as told is not a moment too early.
fn whole_ms(nanos: Nanos) -> Duration {
    let ms = (nanos + 999_999) / 1_000_000;
    Duration::from_millis(u64::try_from(ms).unwrap_or(u64::MAX))
}

#[async_trait]
impl limits::Limits for Limits {
    async fn take(&self, key: &str, quota: Quota, now: Timestamp) -> Result<Allowance> {
        let mut shard = self.shard(key).lock().map_err(Error::broken)?;
        Ok(shard.take(key, quota, Nanos::from(now.ms()) * 1_000_000))
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
        let mut shard = Shard::default();
        let quota = Quota { burst: 1, period: Duration::from_secs(1) };
        for second in 0..100 {
            for key in 0..1_000 {
                shard.take(&format!("{second}:{key}"), quota, second * 1_000_000_000);
            }
        }
        assert!(shard.full_at.len() <= 3_000, "{}", shard.full_at.len());
    }

    #[test]
    fn a_quota_of_nothing_lets_nobody_through() {
        let quota = Quota { burst: 0, period: Duration::from_secs(1) };
        let answer = Shard::default().take("key", quota, 0);
        assert_eq!(answer, Allowance::No { retry_after: Duration::from_secs(1) });
    }
}
