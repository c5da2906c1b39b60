//! Items of jobs that failed and wait, and what has waited for too long.

use crate::error::Result;
use async_trait::async_trait;
use domain::Timestamp;
use uuid::Uuid;

/// How many there are of something that should not last, and since when the oldest is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    pub count: u64,
    pub oldest_at: Option<Timestamp>,
}

/// What an operator should hear of when it gets old.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overdue {
    /// Refunds that a gateway has yet to make.
    pub refunds_due: Waiting,
    /// Payments and charges of wallets whose outcome is not known.
    pub payments_unknown: Waiting,
    /// Letters that wait for a channel.
    pub notifications: Waiting,
    /// Messages that an organiser's server has yet to accept.
    pub deliveries: Waiting,
    /// Items that are put off, by job.
    pub put_off: Vec<(String, u64)>,
}

#[async_trait]
pub trait JobFailures: Send + Sync {
    /// Counts a failure of one item and keeps its job from taking it for a while, longer each time.
    async fn put_off(
        &self,
        job: &'static str,
        item: Uuid,
        error: String,
        now: Timestamp,
    ) -> Result<()>;

    async fn overdue(&self, now: Timestamp) -> Result<Overdue>;

    /// Forgets failures of items that have not failed again since, at most `limit`.
    async fn forget_failures(&self, before: Timestamp, limit: u32) -> Result<u64>;
}
