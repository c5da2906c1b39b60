//! API keys in the store.

use crate::error::Result;
use async_trait::async_trait;
use podo_domain::identity::permissions::{Grant, Membership};
use podo_domain::{ApiKeyId, Timestamp, UserId};

/// A new key. The store gets only its hash.
#[derive(Clone, Debug)]
pub struct CreateApiKey {
    pub id: ApiKeyId,
    pub name: String,
    /// The start of the key, to recognise it by.
    pub prefix: String,
    pub key_hash: [u8; 32],
    pub membership: Membership,
    pub created_by: UserId,
    pub expires_at: Timestamp,
    pub now: Timestamp,
}

#[derive(Clone, Debug)]
pub struct ApiKeyRecord {
    pub id: ApiKeyId,
    pub name: String,
    pub prefix: String,
    pub membership: Membership,
    pub created_by: UserId,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
    pub revoked_at: Option<Timestamp>,
}

/// A live key with what it may do at this moment.
#[derive(Clone, Debug)]
pub struct LiveApiKey {
    pub id: ApiKeyId,
    pub name: String,
    pub grant: Grant,
}

#[async_trait]
pub trait ApiKeys: Send + Sync {
    /// Writes an audit entry.
    async fn create_api_key(&self, command: CreateApiKey) -> Result<()>;

    /// All keys, newest first, including expired and revoked ones.
    async fn api_keys(&self) -> Result<Vec<ApiKeyRecord>>;

    /// The key with this hash, unless it is expired or revoked. It may do what it was created for
    /// and its creator may still do; `None` if the creator has left the team.
    async fn live_api_key(&self, key_hash: [u8; 32], now: Timestamp) -> Result<Option<LiveApiKey>>;

    /// False if there is no such live key; writes an audit entry.
    async fn revoke_api_key(&self, key: ApiKeyId, actor: UserId, now: Timestamp) -> Result<bool>;
}
