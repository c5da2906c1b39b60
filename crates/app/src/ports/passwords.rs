//! Password hashing: slow on purpose, so it has its own bounded pool.

use crate::error::Result;
use async_trait::async_trait;

/// Every engine keeps these rules:
/// - a hash never says what the password was; two hashes of one password differ;
/// - `verify` with no hash takes as long as with one, so that nobody learns who has an account;
/// - more work than the pool can take is refused with `LoginBusy` instead of slowing the sale.
#[async_trait]
pub trait Passwords: Send + Sync {
    async fn hash(&self, password: String) -> Result<String>;

    async fn verify(&self, password: String, hash: Option<String>) -> Result<bool>;
}
