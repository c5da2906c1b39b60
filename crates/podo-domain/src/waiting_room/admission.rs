//! How many fans are admitted: a hard cap on the fans inside, and a rate per second.

use crate::Timestamp;
use crate::waiting_room::{QueueMode, QueueSettings};
use std::time::Duration;

/// A smaller step back of the clock comes from requests that overtake each other; a larger one
/// means that the clock was set.
pub const OVERTAKING: Duration = Duration::from_secs(1);

const THOUSANDTHS: u64 = 1_000;

/// How many waiting fans to admit now. Never more than the free slots, the budget or the fans.
pub fn fans_to_admit(settings: &QueueSettings, n_inside: u32, n_waiting: u64, budget: u32) -> u32 {
    match settings.mode {
        QueueMode::Auto | QueueMode::Draining => {
            let n_free = settings.max_active.saturating_sub(n_inside);
            let n_waiting = u32::try_from(n_waiting).unwrap_or(u32::MAX);
            n_free.min(budget).min(n_waiting)
        }
        QueueMode::Paused | QueueMode::Closed => 0,
    }
}

/// The admission rate as a token bucket: it fills at the rate and saves up at most one second's
/// worth, so that a pause isn't followed by a flood.
///
/// It counts thousandths of fans: a millisecond at a rate of `r` fans per second adds exactly `r`
/// of them, and nothing is rounded away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdmitBudget {
    saved_thousandths: u64,
    at: Timestamp,
}

impl AdmitBudget {
    /// One second's worth, available at once.
    pub fn full(admit_per_second: u32, now: Timestamp) -> AdmitBudget {
        AdmitBudget { saved_thousandths: u64::from(admit_per_second) * THOUSANDTHS, at: now }
    }

    /// Refills up to `now` and returns how many fans may be admitted.
    pub fn fans(&mut self, admit_per_second: u32, now: Timestamp) -> u32 {
        let rate = u64::from(admit_per_second);
        let elapsed_ms = u64::try_from(now.since(self.at).as_millis()).unwrap_or(u64::MAX);
        let refill = elapsed_ms.saturating_mul(rate);
        self.saved_thousandths =
            self.saved_thousandths.saturating_add(refill).min(rate * THOUSANDTHS);
        // Following every small step back would refill the same millisecond twice; never following
        // would stop admission for as long as a wrong clock was ahead.
        if now > self.at || self.at.since(now) >= OVERTAKING {
            self.at = now;
        }
        u32::try_from(self.saved_thousandths / THOUSANDTHS).unwrap_or(u32::MAX)
    }

    pub fn spend(&mut self, n_fans: u32) {
        self.saved_thousandths =
            self.saved_thousandths.saturating_sub(u64::from(n_fans) * THOUSANDTHS);
    }
}
