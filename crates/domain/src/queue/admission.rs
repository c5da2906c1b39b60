//! How many fans are let in: a hard cap on those inside, and a budget per second.

use super::{QueueMode, QueueSettings};
use crate::Timestamp;
use std::time::Duration;

/// A step back of the clock below this is two requests overtaking each other; a longer one means
/// that the clock was set.
const OVERTAKING: Duration = Duration::from_secs(1);

const THOUSANDTHS: u64 = 1_000;

/// How many waiting fans to let in now. Never more than the free slots, the budget or the fans.
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

/// Who may be let in per second, as a bucket: it fills at the rate and saves up one second's
/// worth at most, so that a pause is not followed by a flood.
///
/// It counts thousandths of fans: a millisecond at a rate of `r` fans per second adds exactly `r`
/// of them, and nothing is ever rounded away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdmitBudget {
    saved_thousandths: u64,
    at: Timestamp,
}

impl AdmitBudget {
    /// One second's worth, ready at once.
    pub fn full(admit_per_second: u32, now: Timestamp) -> AdmitBudget {
        AdmitBudget { saved_thousandths: u64::from(admit_per_second) * THOUSANDTHS, at: now }
    }

    /// Fills up to `now` and says how many fans may be let in.
    pub fn fans(&mut self, admit_per_second: u32, now: Timestamp) -> u32 {
        let rate = u64::from(admit_per_second);
        let elapsed_ms = u64::try_from(now.since(self.at).as_millis()).unwrap_or(u64::MAX);
        let refill = elapsed_ms.saturating_mul(rate);
        self.saved_thousandths =
            self.saved_thousandths.saturating_add(refill).min(rate * THOUSANDTHS);
        // Going along with every small step back would fill the same millisecond twice; never
        // going back would shut the door for as long as a wrong clock was ahead.
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
