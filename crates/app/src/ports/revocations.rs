//! Sessions that ended before their access tokens did.

pub mod contract;

use crate::error::Result;
use async_trait::async_trait;
use domain::{SessionId, Timestamp};

/// Every engine keeps these rules; `contract` checks them:
/// - a revoked session stays revoked until `until`, which is when its last access token ends;
/// - after `until` it may be forgotten.
#[async_trait]
pub trait Revocations: Send + Sync {
    async fn revoke(&self, session: SessionId, until: Timestamp) -> Result<()>;

    async fn is_revoked(&self, session: SessionId, now: Timestamp) -> Result<bool>;
}
