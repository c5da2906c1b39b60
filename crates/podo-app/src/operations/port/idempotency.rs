//! Idempotency keys: a command with a given key has effect once, and repeats get the same answer,
//! byte for byte.

use crate::error::Result;
use async_trait::async_trait;
use podo_domain::{Timestamp, UserId};
use serde::Serialize;

/// One use of an `Idempotency-Key`: user, endpoint and body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotencyKey {
    pub user: UserId,
    pub endpoint: &'static str,
    pub key: String,
    /// SHA-256 of the body.
    pub fingerprint: [u8; 32],
}

/// The first answer under a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredAnswer {
    pub status: u16,
    pub body: String,
}

/// The result of a command with a key. The answer is stored in the command's own transaction, so a
/// crash leaves either both or neither.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Idempotent<T> {
    Fresh(T),
    Replay(StoredAnswer),
}

impl<T> Idempotent<T> {
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Idempotent<U> {
        match self {
            Idempotent::Fresh(fresh) => Idempotent::Fresh(change(fresh)),
            Idempotent::Replay(stored) => Idempotent::Replay(stored),
        }
    }
}

/// A body that can be stored for replay.
pub trait IdempotentAnswer: Serialize + Send {
    const STATUS: u16;
}

#[async_trait]
pub trait IdempotencyKeys: Send + Sync {
    /// The answer that this key already got, if any. Refusals: `KeyRunning`, `KeyReused`.
    async fn stored_answer(&self, key: &IdempotencyKey) -> Result<Option<StoredAnswer>>;

    /// Deletes at most `limit` answers older than `before` that don't involve money; returns how
    /// many. Answers of calls that move money live as long as their payment.
    async fn forget_keys(&self, before: Timestamp, limit: u32) -> Result<u64>;
}
