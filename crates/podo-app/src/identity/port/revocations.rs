//! Sessions that ended before their access tokens expired.

#[path = "revocations_contract.rs"]
pub mod contract;

use crate::error::Result;
use async_trait::async_trait;
use podo_domain::{SessionId, Timestamp};

/// Every engine keeps these rules; `contract` checks them:
/// - a revoked session stays revoked until `until`, when its last access token expires;
/// - after `until` it may be forgotten.
#[async_trait]
pub trait Revocations: Send + Sync {
    async fn revoke(&self, session: SessionId, until: Timestamp) -> Result<()>;

    async fn is_revoked(&self, session: SessionId, now: Timestamp) -> Result<bool>;
}
