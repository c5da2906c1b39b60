//! Password hashing: slow on purpose, so it has its own bounded pool.

use crate::error::Result;
use async_trait::async_trait;

/// What a password is worth against a stored hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Wrong,
    Right,
    /// Right, but hashed in an older way: worth hashing again while the password is at hand.
    RightButOld,
}

/// Every engine keeps these rules:
/// - hashes of bcrypt, as older systems made them, are understood and worth renewing;
/// - a hash never says what the password was; two hashes of one password differ;
/// - `verify` with no hash takes as long as with one, so that nobody learns who has an account;
/// - more work than the pool can take is refused with `LoginBusy` instead of slowing the sale;
/// - `hash_new` has a share of its own: however many want accounts, log-ins go on.
#[async_trait]
pub trait Passwords: Send + Sync {
    async fn hash(&self, password: String) -> Result<String>;

    /// The same for an account that is not made yet.
    async fn hash_new(&self, password: String) -> Result<String>;

    async fn verify(&self, password: String, hash: Option<String>) -> Result<Verdict>;
}
