//! Rate limits in memory.

use async_trait::async_trait;
use podo_app::Result;
use podo_app::error::Error;
use podo_app::operations::throttling::limits;
use podo_app::operations::throttling::limits::{Allowance, Group, Quota, Usage};
use podo_app::operations::throttling::rate_limits::RateLimiter;
use podo_domain::Timestamp;
use podo_domain::operations::rate_limit::TokenBucket;
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

/// Buckets that the nodes of one process share. There is one node, which reports nothing, except in
/// tests.
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
#[path = "limits_tests.rs"]
mod tests;
