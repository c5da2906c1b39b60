//! Back-off of failed job items.

use std::time::Duration;

const FIRST: Duration = Duration::from_secs(2);
const MOST: Duration = Duration::from_secs(15 * 60);

/// Doubles from two seconds to a quarter of an hour, minus up to a quarter at random, so that
/// simultaneous failures don't retry simultaneously.
pub fn backoff(attempts: u32, random: u64) -> Duration {
    let doubled = FIRST.saturating_mul(1 << attempts.saturating_sub(1).min(20)).min(MOST);
    let quarter_ms = u64::try_from(doubled.as_millis() / 4).unwrap_or(0);
    doubled - Duration::from_millis(random % (quarter_ms + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_a_quarter_of_an_hour() {
        assert_eq!(backoff(0, 0), FIRST);
        assert_eq!(backoff(1, 0), FIRST);
        assert_eq!(backoff(4, 0), Duration::from_secs(16));
        assert_eq!(backoff(u32::MAX, 0), MOST);
    }

    #[test]
    fn waits_that_began_together_spread_over_a_quarter() {
        let waits = (0..10_000).map(|random| backoff(3, random * 7_919));
        let (least, most) = waits.fold((MOST, Duration::ZERO), |(a, b), it| (a.min(it), b.max(it)));
        assert_eq!((least, most), (Duration::from_secs(6), Duration::from_secs(8)));
    }
}
