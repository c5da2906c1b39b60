//! Tells a node that another one changed the catalog, so that it invalidates its cache.

use crate::error::Result;
use async_trait::async_trait;

/// Every engine keeps this rule, which `check` verifies: two equal versions mean that the catalog
/// wasn't invalidated in between, even if the engine lost its data meanwhile.
#[async_trait]
pub trait Invalidation: Send + Sync {
    /// Invalidates the catalog; called after the commit.
    async fn invalidate(&self) -> Result<()>;

    /// A different number after each invalidation.
    async fn version(&self) -> Result<u64>;
}

/// The contract, run against every engine.
pub async fn check(invalidation: &dyn Invalidation) {
    let version = async || invalidation.version().await.expect("the engine answers");
    let mut seen = vec![version().await];
    assert_eq!(version().await, seen[0], "asking changes nothing");
    for _ in 0..20 {
        invalidation.invalidate().await.expect("the engine answers");
        let now = version().await;
        assert!(!seen.contains(&now), "each invalidation is a version of its own");
        seen.push(now);
    }
}
