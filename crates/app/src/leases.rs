//! Leading a job: a lease that is kept between rounds and renewed in time.

use crate::error::Result;
use crate::platform::Platform;
use crate::ports::leases::{Lease, TakeLease};
use domain::Timestamp;
use std::time::Duration;

/// The least time a lease lasts: longer than any transaction, shorter than an operator's patience.
const LEASE_MIN: Duration = Duration::from_secs(10);

pub struct Leadership {
    job: &'static str,
    length: Duration,
    held: Option<Lease>,
}

impl Leadership {
    /// For a job that runs `every` so often: the lease outlasts a round that is missed.
    pub fn of(job: &'static str, every: Duration) -> Leadership {
        Leadership { job, length: LEASE_MIN + every * 2, held: None }
    }

    /// The lease, if this node leads. It is renewed when half of it is gone, so that a job that
    /// runs often does not write often.
    pub async fn lease(&mut self, platform: &Platform, now: Timestamp) -> Result<Option<Lease>> {
        let is_young = |lease: &Lease| now < lease.until.minus(self.length / 2);
        if self.held.as_ref().is_some_and(is_young) {
            return Ok(self.held.clone());
        }
        let until = now.plus(self.length);
        let command = TakeLease { job: self.job, holder: platform.node, until, now };
        let before = self.held.take().map(|lease| lease.fence);
        self.held = platform.store.take_lease(command).await?;
        let fence = self.held.as_ref().map(|lease| lease.fence);
        if fence != before {
            let job = self.job;
            match fence {
                Some(fence) => tracing::info!(job, fence, "This node leads {job}"),
                None => tracing::warn!(job, "Another node leads {job} now"),
            }
        }
        Ok(self.held.clone())
    }

    /// Lets another node lead at once.
    pub async fn give_up(self, platform: &Platform) -> Result<()> {
        match self.held {
            Some(lease) => platform.store.give_up_lease(lease).await,
            None => Ok(()),
        }
    }
}
