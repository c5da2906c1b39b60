//! The system's clock and random source: the only place that reads either.

use podo_app::operations::port::clock::{Clock, Rng};
use podo_domain::Timestamp;
use std::sync::Mutex;
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use uuid::{ContextV7, Uuid};

pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the Clock adapter")]
    fn now(&self) -> Timestamp {
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_ms(0).plus(since_1970)
    }
}

/// A clock that can't be set: it starts with the system's time and advances with the machine's
/// monotonic clock. On a node that is synchronised to another clock, setting the system clock in
/// the middle of a sale has no effect.
pub struct SteadyClock {
    started_at: Timestamp,
    start: Instant,
}

impl SteadyClock {
    pub fn start() -> SteadyClock {
        SteadyClock { started_at: SystemClock.now(), start: Instant::now() }
    }
}

impl Clock for SteadyClock {
    fn now(&self) -> Timestamp {
        self.started_at.plus(self.start.elapsed())
    }
}

/// Random bytes from the operating system, and ids that sort in creation order even within one
/// millisecond and when the clock steps back.
pub struct SystemRng {
    order: Mutex<ContextV7>,
}

impl SystemRng {
    pub fn new() -> SystemRng {
        SystemRng { order: Mutex::new(ContextV7::new()) }
    }
}

impl Default for SystemRng {
    fn default() -> SystemRng {
        SystemRng::new()
    }
}

impl Rng for SystemRng {
    fn fill(&self, bytes: &mut [u8]) {
        getrandom::fill(bytes).expect("the operating system gives random bytes");
    }

    fn id(&self, now: Timestamp) -> Uuid {
        let ms = u64::try_from(now.ms()).unwrap_or(0);
        let (seconds, nanos) = (ms / 1_000, (ms % 1_000) as u32 * 1_000_000);
        let order = self.order.lock().expect("the lock is never poisoned");
        Uuid::new_v7(uuid::Timestamp::from_unix(&*order, seconds, nanos))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_in_the_order_of_their_making() {
        let rng = SystemRng::new();
        let moments = [5, 5, 5, 4, 6, 3, 6].map(|ms| Timestamp::from_ms(1_700_000_000_000 + ms));
        let ids: Vec<Uuid> = moments.iter().map(|now| rng.id(*now)).collect();
        assert!(ids.is_sorted(), "{ids:?}");
    }
}
