//! A circuit breaker for a gateway that keeps failing.

use podo_domain::Timestamp;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Consecutive failures that open the circuit.
const FAILURES_MAX: u32 = 5;

/// How long it stays open; after that, one more failure reopens it.
const PAUSE: Duration = Duration::from_secs(10);

#[derive(Default)]
pub(super) struct Breaker {
    state: Mutex<State>,
}

#[derive(Clone, Copy, Default)]
struct State {
    n_failures: u32,
    closed_until: Option<Timestamp>,
}

impl Breaker {
    pub(super) fn lets_through(&self, now: Timestamp) -> bool {
        self.read().closed_until.is_none_or(|until| until <= now)
    }

    pub(super) fn note(&self, went_well: bool, now: Timestamp) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if went_well {
            *state = State::default();
            return;
        }
        state.n_failures += 1;
        if state.n_failures >= FAILURES_MAX {
            state.closed_until = Some(now.plus(PAUSE));
        }
    }

    fn read(&self) -> State {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_ms(ms)
    }

    #[test]
    fn five_failures_in_a_row_close_it_and_one_success_opens_it() {
        let breaker = Breaker::default();
        for _ in 0..4 {
            breaker.note(false, at(0));
        }
        breaker.note(true, at(0));
        for _ in 0..5 {
            assert!(breaker.lets_through(at(0)));
            breaker.note(false, at(0));
        }
        assert!(!breaker.lets_through(at(9_999)));
        assert!(breaker.lets_through(at(10_000)));
        breaker.note(false, at(10_000));
        assert!(!breaker.lets_through(at(10_001)), "one more is enough");
        breaker.note(true, at(20_000));
        assert!(breaker.lets_through(at(20_000)));
    }
}
