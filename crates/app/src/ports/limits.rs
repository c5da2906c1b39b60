//! Rate limits.

pub mod contract;

use crate::error::Result;
use async_trait::async_trait;
use domain::{Refusal, Timestamp};
use std::time::Duration;

/// `burst` requests at once, refilled at `burst` per `period`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    pub burst: u32,
    pub period: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allowance {
    Yes { left: u32 },
    No { retry_after: Duration },
}

impl Allowance {
    /// How many are left; the refusal says when to come back.
    pub fn or_refuse(self) -> std::result::Result<u32, Refusal> {
        match self {
            Allowance::Yes { left } => Ok(left),
            Allowance::No { retry_after } => {
                Err(Refusal::TooManyRequests { retry_after_s: retry_after.as_secs() + 1 })
            }
        }
    }
}

/// Every engine keeps these rules; `contract` checks them:
/// - at most `burst` requests pass at one instant, and `burst` per `period` in the long run;
/// - a refused request costs nothing: a client that keeps knocking is let in again in time;
/// - different keys do not disturb each other.
#[async_trait]
pub trait Limits: Send + Sync {
    async fn take(&self, key: &str, quota: Quota, now: Timestamp) -> Result<Allowance>;
}
