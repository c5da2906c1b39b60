//! Cache invalidation of the catalog inside one process: a counter.

use async_trait::async_trait;
use podo_app::Result;
use podo_app::catalog::invalidation;
use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Default)]
pub struct Invalidation {
    version: AtomicU64,
}

#[async_trait]
impl invalidation::Invalidation for Invalidation {
    async fn invalidate(&self) -> Result<()> {
        self.version.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    async fn version(&self) -> Result<u64> {
        Ok(self.version.load(Ordering::SeqCst))
    }
}

#[tokio::test]
async fn it_keeps_the_contract() {
    invalidation::check(&Invalidation::default()).await;
}
