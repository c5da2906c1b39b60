//! Failed log-ins: guessing gets slower and slower, but no account is locked for good.

use crate::Timestamp;
use std::time::Duration;

/// Mistakes without a pause.
const FREE_TRIES: u32 = 10;

/// The longest pause between two attempts.
const PAUSE_MAX: Duration = Duration::from_secs(15 * 60);

/// The failed log-ins of one address since the last successful one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Failures {
    pub n: u32,
    pub last_at: Option<Timestamp>,
}

impl Failures {
    /// Older failures don't count.
    pub const COUNT_FOR: Duration = Duration::from_secs(24 * 60 * 60);

    /// How long the next attempt has to wait: nothing at first, then a second, two, four …
    pub fn pause(&self, now: Timestamp) -> Duration {
        let Some(last_at) = self.last_at.filter(|_| self.n >= FREE_TRIES) else {
            return Duration::ZERO;
        };
        let doublings = (self.n - FREE_TRIES).min(20);
        let pause = Duration::from_secs(1 << doublings).min(PAUSE_MAX);
        last_at.plus(pause).since(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pause_s(n: u32, seconds_later: u64) -> u64 {
        let last_at = Timestamp::from_ms(1_900_000_000_000);
        let now = last_at.plus(Duration::from_secs(seconds_later));
        Failures { n, last_at: Some(last_at) }.pause(now).as_secs()
    }

    #[test]
    fn ten_mistakes_are_free_and_then_each_costs_twice_the_one_before() {
        assert_eq!(Failures::default().pause(Timestamp::from_ms(0)), Duration::ZERO);
        assert_eq!((pause_s(9, 0), pause_s(10, 0), pause_s(11, 0)), (0, 1, 2));
        assert_eq!((pause_s(14, 0), pause_s(14, 10), pause_s(14, 16)), (16, 6, 0));
    }

    #[test]
    fn no_wait_exceeds_a_quarter_of_an_hour() {
        assert_eq!((pause_s(20, 0), pause_s(1_000, 0)), (900, 900));
    }
}
