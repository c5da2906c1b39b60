//! Idempotency keys: the same key is done once and answers the same, byte for byte.

use crate::error::Result;
use async_trait::async_trait;
use domain::{Timestamp, UserId};
use serde::Serialize;

/// One use of an `Idempotency-Key`: whose, for what, and with which body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyUse {
    pub user: UserId,
    pub endpoint: &'static str,
    pub key: String,
    /// SHA-256 of the body.
    pub fingerprint: [u8; 32],
}

/// The answer that a key got the first time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredAnswer {
    pub status: u16,
    pub body: String,
}

/// What a command with a key gives. The answer is stored in the command's own transaction, so a
/// crash leaves either both or neither.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Once<T> {
    Fresh(T),
    Replay(StoredAnswer),
}

impl<T> Once<T> {
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Once<U> {
        match self {
            Once::Fresh(fresh) => Once::Fresh(change(fresh)),
            Once::Replay(stored) => Once::Replay(stored),
        }
    }
}

/// A body that can be stored for replay.
pub trait Answer: Serialize + Send {
    const STATUS: u16;
}

#[async_trait]
pub trait Keys: Send + Sync {
    /// The answer this use got before, if there is one. Refusals: `KeyRunning`, `KeyReused`.
    async fn stored_answer(&self, key: &KeyUse) -> Result<Option<StoredAnswer>>;

    /// Forgets answers older than `before` that no money hangs on, at most `limit` of them; says how
    /// many. Answers of calls that move money live as long as their payment.
    async fn forget_keys(&self, before: Timestamp, limit: u32) -> Result<u64>;
}
