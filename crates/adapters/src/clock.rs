//! The system's clock and its source of chance: the only place that reads either.

use app::ports::clock::{Chance, Clock};
use domain::Timestamp;
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

/// A clock that cannot be set: it starts with the system's time and goes on at the pace of the
/// machine's monotonic clock. On a node that is corrected to another clock, a system clock that is
/// set forward or back in the middle of a sale changes nothing.
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

/// Random bytes from the operating system, and ids that sort in the order of their making even
/// within one millisecond and when the clock steps back.
pub struct SystemChance {
    order: Mutex<ContextV7>,
}

impl SystemChance {
    pub fn new() -> SystemChance {
        SystemChance { order: Mutex::new(ContextV7::new()) }
    }
}

impl Default for SystemChance {
    fn default() -> SystemChance {
        SystemChance::new()
    }
}

impl Chance for SystemChance {
    fn fill(&self, bytes: &mut [u8]) {
        getrandom::fill(bytes).expect("the operating system gives random bytes");
    }

    fn id(&self, now: Timestamp) -> Uuid {
        let ms = u64::try_from(now.ms()).unwrap_or(0);
        let (seconds, nanos) = (ms / 1_000, (ms % 1_000) as u32 * 1_000_000);
        let order = self.order.lock().expect("no code panics while it makes an id");
        Uuid::new_v7(uuid::Timestamp::from_unix(&*order, seconds, nanos))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_in_the_order_of_their_making() {
        let chance = SystemChance::new();
        let moments = [5, 5, 5, 4, 6, 3, 6].map(|ms| Timestamp::from_ms(1_700_000_000_000 + ms));
        let ids: Vec<Uuid> = moments.iter().map(|now| chance.id(*now)).collect();
        assert!(ids.is_sorted(), "{ids:?}");
    }
}
