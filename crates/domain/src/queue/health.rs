//! Fewer fans are let in while the platform is unwell.

/// How those who are inside are served, over the last few seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Health {
    pub n_requests: u64,
    pub p99_ms: u64,
    /// Requests that failed through our fault, in thousandths.
    pub failed_per_mille: u64,
}

/// Above these the platform is unwell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HealthLimits {
    pub p99_ms: u64,
    pub failed_per_mille: u64,
}

/// What is left of the rate, in percent. It is halved while things are bad and comes back in small
/// steps, only after a while in which they were clearly good: between the two nothing changes, so
/// that it does not swing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlowDown {
    percent: u32,
    n_bad: u32,
    n_good: u32,
}

const PERCENT_MIN: u32 = 5;
/// Looks in a row before anything changes: one slow request is no sickness.
const BAD_LOOKS: u32 = 2;
const GOOD_LOOKS: u32 = 5;
const STEP_UP: u32 = 10;
/// Fewer requests say nothing.
const REQUESTS_MIN: u64 = 20;

/// The rate that is left, at least one fan per second: with nobody inside nothing could be seen to
/// get better.
pub fn slowed(admit_per_second: u32, percent: u32) -> u32 {
    let rate = u64::from(admit_per_second) * u64::from(percent) / 100;
    u32::try_from(rate).unwrap_or(u32::MAX).max(1)
}

impl SlowDown {
    pub const NONE: SlowDown = SlowDown { percent: 100, n_bad: 0, n_good: 0 };

    pub const fn percent(self) -> u32 {
        self.percent
    }

    /// One look, about once a second.
    pub fn after(self, health: Health, limits: HealthLimits) -> SlowDown {
        match judge(health, limits) {
            Verdict::Bad if self.n_bad + 1 < BAD_LOOKS => {
                SlowDown { n_bad: self.n_bad + 1, n_good: 0, ..self }
            }
            Verdict::Bad => {
                SlowDown { percent: (self.percent / 2).max(PERCENT_MIN), ..SlowDown::NONE }
            }
            Verdict::Between => SlowDown { n_bad: 0, n_good: 0, ..self },
            Verdict::Good if self.n_good + 1 < GOOD_LOOKS => {
                SlowDown { n_bad: 0, n_good: self.n_good + 1, ..self }
            }
            Verdict::Good => {
                SlowDown { percent: (self.percent + STEP_UP).min(100), ..SlowDown::NONE }
            }
        }
    }
}

enum Verdict {
    Bad,
    Between,
    Good,
}

/// Good is below seven tenths of both limits, and so is a platform that nobody asks anything.
fn judge(health: Health, limits: HealthLimits) -> Verdict {
    let is_below = |tenths: u64| {
        health.p99_ms * 10 <= limits.p99_ms * tenths
            && health.failed_per_mille * 10 <= limits.failed_per_mille * tenths
    };
    if health.n_requests < REQUESTS_MIN || is_below(7) {
        Verdict::Good
    } else if is_below(10) {
        Verdict::Between
    } else {
        Verdict::Bad
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: HealthLimits = HealthLimits { p99_ms: 1_000, failed_per_mille: 50 };

    fn health(p99_ms: u64, failed_per_mille: u64) -> Health {
        Health { n_requests: 100, p99_ms, failed_per_mille }
    }

    fn look(mut slow: SlowDown, health: Health, n_looks: u32) -> SlowDown {
        for _ in 0..n_looks {
            slow = slow.after(health, LIMITS);
        }
        slow
    }

    #[test]
    fn a_single_bad_look_changes_nothing() {
        let slow = look(SlowDown::NONE, health(1_001, 0), 1);
        assert_eq!(look(slow, health(900, 0), 1), SlowDown::NONE);
    }

    #[test]
    fn slow_answers_or_errors_halve_the_rate_until_a_little_is_left() {
        for bad in [health(1_001, 0), health(10, 51)] {
            assert_eq!(look(SlowDown::NONE, bad, 2).percent(), 50);
            assert_eq!(look(SlowDown::NONE, bad, 4).percent(), 25);
            assert_eq!(look(SlowDown::NONE, bad, 100).percent(), 5);
        }
    }

    #[test]
    fn it_comes_back_in_steps_after_clearly_good_looks() {
        let slow = look(SlowDown::NONE, health(5_000, 0), 2);
        assert_eq!(look(slow, health(700, 35), 4).percent(), 50);
        assert_eq!(look(slow, health(700, 35), 5).percent(), 60);
        assert_eq!(look(slow, health(700, 35), 25), SlowDown::NONE);
    }

    #[test]
    fn between_good_and_bad_it_stays() {
        let slow = look(SlowDown::NONE, health(5_000, 0), 2);
        assert_eq!(look(slow, health(900, 0), 1_000), slow);
        assert_eq!(look(slow, health(1_000, 50), 1_000), slow, "the limit itself is allowed");
    }

    #[test]
    fn somebody_is_let_in_however_bad_it_is() {
        let slow = look(SlowDown::NONE, health(9_000, 1_000), 100);
        assert_eq!((slowed(100, slow.percent()), slowed(3, slow.percent())), (5, 1));
        assert_eq!(slowed(u32::MAX, SlowDown::NONE.percent()), u32::MAX);
    }

    #[test]
    fn a_quiet_platform_counts_as_well() {
        let slow = look(SlowDown::NONE, health(5_000, 0), 2);
        let quiet = Health { n_requests: 3, p99_ms: 5_000, failed_per_mille: 1_000 };
        assert_eq!(look(slow, quiet, 25), SlowDown::NONE);
    }
}
