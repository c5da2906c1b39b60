//! Postponed items of jobs, and work that is overdue.

use crate::error::Result;
use async_trait::async_trait;
use podo_domain::Timestamp;
use uuid::Uuid;

/// The number of waiting items, and since when the oldest waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    pub count: u64,
    pub oldest_at: Option<Timestamp>,
}

/// Backlogs that operators should be alerted about when they get old.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overdue {
    /// Refunds that a gateway has yet to make.
    pub refunds_due: Waiting,
    /// Payments and wallet charges with an unknown outcome.
    pub payments_unknown: Waiting,
    /// Notifications that wait for a channel.
    pub notifications: Waiting,
    /// Deliveries that a webhook endpoint has yet to accept.
    pub deliveries: Waiting,
    /// Postponed items, by job.
    pub put_off: Vec<(String, u64)>,
}

#[async_trait]
pub trait JobFailures: Send + Sync {
    /// Counts a failure of one item and postpones it, longer each time.
    async fn put_off(
        &self,
        job: &'static str,
        item: Uuid,
        error: String,
        now: Timestamp,
    ) -> Result<()>;

    async fn overdue(&self, now: Timestamp) -> Result<Overdue>;

    /// Deletes at most `limit` failures of items that haven't failed again since `before`.
    async fn forget_failures(&self, before: Timestamp, limit: u32) -> Result<u64>;
}
