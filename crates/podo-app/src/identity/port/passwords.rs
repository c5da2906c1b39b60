//! Password hashing: slow by design, so it has its own bounded pool.

use crate::error::Result;
use async_trait::async_trait;

/// The result of verifying a password against a stored hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Wrong,
    Right,
    /// Right, but hashed with an older algorithm: rehash while the password is available.
    RightButOld,
}

/// Every engine keeps these rules:
/// - bcrypt hashes of older systems are understood and worth renewing;
/// - a hash doesn't reveal the password; two hashes of one password differ;
/// - `verify` without a hash takes as long as with one, so that timing doesn't reveal accounts;
/// - work beyond the pool's capacity is refused with `LoginBusy` instead of slowing the sale;
/// - `hash_new` has a share of its own, so that a flood of sign-ups doesn't block log-ins.
#[async_trait]
pub trait Passwords: Send + Sync {
    async fn hash(&self, password: String) -> Result<String>;

    /// The same for an account that doesn't exist yet.
    async fn hash_new(&self, password: String) -> Result<String>;

    async fn verify(&self, password: String, hash: Option<String>) -> Result<Verdict>;
}
