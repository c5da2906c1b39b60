//! Rate limits in memory.

use app::Result;
use app::error::Error;
use app::ports::limits::{self, Allowance, Group, Quota, Usage};
use app::rate_limits::RateLimiter;
use async_trait::async_trait;
use domain::Timestamp;
use domain::rate_limit::TokenBucket;
use std::collections::HashMap;
use std::sync::Mutex;

/// Limits by name, for the port.
#[derive(Default)]
pub struct Limits(RateLimiter<String>);

#[async_trait]
impl limits::Limits for Limits {
    async fn take(&self, key: &str, quota: Quota, now: Timestamp) -> Result<Allowance> {
        self.0.take(key, quota, now)
    }
}

/// Buckets that the nodes of one process share: there is one node, which reports nothing, unless a
/// test has more.
#[derive(Default)]
pub struct SharedBuckets {
    buckets: Mutex<HashMap<String, TokenBucket>>,
}

#[async_trait]
impl limits::SharedBuckets for SharedBuckets {
    async fn report(&self, _: Group, usage: &[Usage], now: Timestamp) -> Result<Vec<TokenBucket>> {
        let now = now.ms().saturating_mul(1_000_000);
        let mut buckets = self.buckets.lock().map_err(Error::broken)?;
        buckets.retain(|_, bucket| !bucket.is_full(now));
        let count = |usage: &Usage| {
            let bucket = buckets.entry(usage.key.clone()).or_insert(TokenBucket::FULL);
            *bucket = bucket.after(usage.report, now);
            *bucket
        };
        Ok(usage.iter().map(count).collect())
    }
}

#[cfg(test)]
mod tests;
