//! Leadership of a job: a lease that is kept between rounds and renewed in time.

use crate::context::AppContext;
use crate::error::Result;
use crate::operations::port::leases::{Lease, TakeLease};
use podo_domain::Timestamp;
use std::time::Duration;

/// Minimum length of a lease: longer than any transaction, short enough for a quick fail-over.
const LEASE_MIN: Duration = Duration::from_secs(10);

pub struct Leadership {
    job: &'static str,
    length: Duration,
    held: Option<Lease>,
}

impl Leadership {
    /// For a job with this interval: the lease outlasts one missed round.
    pub fn of(job: &'static str, every: Duration) -> Leadership {
        Leadership { job, length: LEASE_MIN + every * 2, held: None }
    }

    /// The lease, if this node leads. It's renewed when half of it has passed, so that frequent
    /// jobs don't write often.
    pub async fn lease(&mut self, context: &AppContext, now: Timestamp) -> Result<Option<Lease>> {
        let is_young = |lease: &Lease| now < lease.until.minus(self.length / 2);
        if self.held.as_ref().is_some_and(is_young) {
            return Ok(self.held.clone());
        }
        let until = now.plus(self.length);
        let command = TakeLease { job: self.job, holder: context.node, until, now };
        let before = self.held.take().map(|lease| lease.fence);
        self.held = context.store.take_lease(command).await?;
        let fence = self.held.as_ref().map(|lease| lease.fence);
        if fence != before {
            let job = self.job;
            match fence {
                Some(fence) => tracing::info!(job, fence, "This node now leads {job}"),
                None => tracing::warn!(job, "Lost the lease of {job} to another node"),
            }
        }
        Ok(self.held.clone())
    }

    /// Releases the lease, so that another node can lead at once.
    pub async fn give_up(self, context: &AppContext) -> Result<()> {
        match self.held {
            Some(lease) => context.store.give_up_lease(lease).await,
            None => Ok(()),
        }
    }
}
