//! The admission throttle: fewer fans are admitted while the platform is overloaded.

/// How the requests of admitted fans went in the last few seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Health {
    pub n_requests: u64,
    pub p99_ms: u64,
    /// Requests that failed through our fault, in thousandths.
    pub failed_per_mille: u64,
}

/// Above these the platform counts as overloaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HealthLimits {
    pub p99_ms: u64,
    pub failed_per_mille: u64,
}

/// The percentage of the rate that is left. It's halved while the health is bad and recovers in
/// small steps, only after a while of clearly good health: between the two nothing changes, so that
/// it doesn't oscillate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdmissionThrottle {
    percent: u32,
    n_bad: u32,
    n_good: u32,
}

const PERCENT_MIN: u32 = 5;
/// Consecutive checks before anything changes: one slow request isn't an overload.
const BAD_LOOKS: u32 = 2;
const GOOD_LOOKS: u32 = 5;
const STEP_UP: u32 = 10;
/// Fewer requests aren't significant.
const REQUESTS_MIN: u64 = 20;

/// The throttled rate, at least one fan per second: without fans inside, no improvement could be
/// measured.
pub fn slowed(admit_per_second: u32, percent: u32) -> u32 {
    let rate = u64::from(admit_per_second) * u64::from(percent) / 100;
    u32::try_from(rate).unwrap_or(u32::MAX).max(1)
}

impl AdmissionThrottle {
    pub const NONE: AdmissionThrottle = AdmissionThrottle { percent: 100, n_bad: 0, n_good: 0 };

    pub const fn percent(self) -> u32 {
        self.percent
    }

    /// One check, about once a second.
    pub fn after(self, health: Health, limits: HealthLimits) -> AdmissionThrottle {
        match judge(health, limits) {
            Verdict::Bad if self.n_bad + 1 < BAD_LOOKS => {
                AdmissionThrottle { n_bad: self.n_bad + 1, n_good: 0, ..self }
            }
            Verdict::Bad => AdmissionThrottle {
                percent: (self.percent / 2).max(PERCENT_MIN),
                ..AdmissionThrottle::NONE
            },
            Verdict::Between => AdmissionThrottle { n_bad: 0, n_good: 0, ..self },
            Verdict::Good if self.n_good + 1 < GOOD_LOOKS => {
                AdmissionThrottle { n_bad: 0, n_good: self.n_good + 1, ..self }
            }
            Verdict::Good => AdmissionThrottle {
                percent: (self.percent + STEP_UP).min(100),
                ..AdmissionThrottle::NONE
            },
        }
    }
}

enum Verdict {
    Bad,
    Between,
    Good,
}

/// Good means below seven tenths of both limits, or too few requests to tell.
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

    fn look(mut slow: AdmissionThrottle, health: Health, n_looks: u32) -> AdmissionThrottle {
        for _ in 0..n_looks {
            slow = slow.after(health, LIMITS);
        }
        slow
    }

    #[test]
    fn a_single_bad_look_changes_nothing() {
        let slow = look(AdmissionThrottle::NONE, health(1_001, 0), 1);
        assert_eq!(look(slow, health(900, 0), 1), AdmissionThrottle::NONE);
    }

    #[test]
    fn slow_answers_or_errors_halve_the_rate_until_a_little_is_left() {
        for bad in [health(1_001, 0), health(10, 51)] {
            assert_eq!(look(AdmissionThrottle::NONE, bad, 2).percent(), 50);
            assert_eq!(look(AdmissionThrottle::NONE, bad, 4).percent(), 25);
            assert_eq!(look(AdmissionThrottle::NONE, bad, 100).percent(), 5);
        }
    }

    #[test]
    fn it_comes_back_in_steps_after_clearly_good_looks() {
        let slow = look(AdmissionThrottle::NONE, health(5_000, 0), 2);
        assert_eq!(look(slow, health(700, 35), 4).percent(), 50);
        assert_eq!(look(slow, health(700, 35), 5).percent(), 60);
        assert_eq!(look(slow, health(700, 35), 25), AdmissionThrottle::NONE);
    }

    #[test]
    fn between_good_and_bad_it_stays() {
        let slow = look(AdmissionThrottle::NONE, health(5_000, 0), 2);
        assert_eq!(look(slow, health(900, 0), 1_000), slow);
        assert_eq!(look(slow, health(1_000, 50), 1_000), slow, "the limit itself is allowed");
    }

    #[test]
    fn at_least_one_fan_is_admitted_however_slow_the_nodes_are() {
        let slow = look(AdmissionThrottle::NONE, health(9_000, 1_000), 100);
        assert_eq!((slowed(100, slow.percent()), slowed(3, slow.percent())), (5, 1));
        assert_eq!(slowed(u32::MAX, AdmissionThrottle::NONE.percent()), u32::MAX);
    }

    #[test]
    fn a_quiet_platform_counts_as_well() {
        let slow = look(AdmissionThrottle::NONE, health(5_000, 0), 2);
        let quiet = Health { n_requests: 3, p99_ms: 5_000, failed_per_mille: 1_000 };
        assert_eq!(look(slow, quiet, 25), AdmissionThrottle::NONE);
    }
}
