//! Admissions per second, over the last minute.

use podo_domain::Timestamp;
use podo_domain::waiting_room::OUTFLOW_SECONDS;

const SECONDS: i64 = OUTFLOW_SECONDS as i64;

#[derive(Clone)]
pub(crate) struct Outflow {
    /// One count per second, by the second's remainder.
    counts: [u32; SECONDS as usize],
    first_s: i64,
    last_s: i64,
}

impl Outflow {
    pub(crate) fn starting(now: Timestamp) -> Outflow {
        let second = second_of(now);
        Outflow { counts: [0; SECONDS as usize], first_s: second, last_s: second }
    }

    pub(crate) fn add(&mut self, n_fans: u32, now: Timestamp) {
        if self.counts.iter().all(|count| *count == 0) {
            // Start over after a lull, which would make the first estimates far too long.
            *self = Outflow::starting(now);
        }
        self.move_to(second_of(now));
        self.counts[slot_of(self.last_s)] += n_fans;
    }

    pub(crate) fn per_second(&mut self, now: Timestamp) -> f64 {
        self.move_to(second_of(now));
        let n_fans: u32 = self.counts.iter().sum();
        let n_seconds = (self.last_s - self.first_s + 1).clamp(1, SECONDS);
        f64::from(n_fans) / n_seconds as f64
    }

    fn move_to(&mut self, second: i64) {
        // Requests overtake each other by moments; a minute back means that the clock was set.
        let is_far = (second - self.last_s).abs() >= SECONDS;
        if is_far {
            self.counts = [0; SECONDS as usize];
            self.first_s = self.first_s.min(second);
            self.last_s = second;
        }
        while self.last_s < second {
            self.last_s += 1;
            self.counts[slot_of(self.last_s)] = 0;
        }
    }
}

fn second_of(now: Timestamp) -> i64 {
    now.ms().div_euclid(1_000)
}

fn slot_of(second: i64) -> usize {
    usize::try_from(second.rem_euclid(SECONDS)).expect("rem_euclid is never negative")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_minute_is_measured_and_no_more() {
        let at = |second: i64| Timestamp::from_ms(second * 1_000);
        let mut outflow = Outflow::starting(at(0));
        assert_eq!(outflow.per_second(at(10)), 0.0);
        for second in 100..110 {
            outflow.add(30, at(second));
        }
        assert_eq!(outflow.per_second(at(109)), 30.0, "ten seconds of thirty");
        assert_eq!(outflow.per_second(at(159)), 5.0, "and fifty seconds of none");
        assert_eq!(outflow.per_second(at(168)), 0.5, "only the last of the ten counts");
        assert_eq!(outflow.per_second(at(169)), 0.0);
        outflow.add(30, at(40));
        assert_eq!(outflow.per_second(at(40)), 30.0, "a clock set back does not stop it");
    }
}
