//! Rotating codes: each counts for half a minute.

use crate::Timestamp;
use std::time::Duration;

/// How long a rotating code is shown.
pub const STEP_LENGTH: Duration = Duration::from_secs(30);

/// The half minute that a rotating code is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeStep(i64);

impl CodeStep {
    pub fn at(now: Timestamp) -> CodeStep {
        CodeStep(now.ms().div_euclid(STEP_LENGTH.as_millis() as i64))
    }

    pub fn begins_at(self) -> Timestamp {
        Timestamp::from_ms(self.0.saturating_mul(STEP_LENGTH.as_millis() as i64))
    }

    /// The gate accepts the previous step too, because showing and scanning take a moment.
    pub fn is_current(self, now: Timestamp) -> bool {
        let current = CodeStep::at(now).0;
        self.0 == current || self.0 == current - 1
    }

    pub const fn bytes(self) -> [u8; 8] {
        self.0.to_be_bytes()
    }

    pub const fn from_bytes(bytes: [u8; 8]) -> CodeStep {
        CodeStep(i64::from_be_bytes(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rotating_code_counts_for_its_half_minute_and_the_next() {
        let step = CodeStep::at(Timestamp::from_ms(60_000));
        assert!(step.is_current(Timestamp::from_ms(60_000)));
        assert!(step.is_current(Timestamp::from_ms(119_999)));
        assert!(!step.is_current(Timestamp::from_ms(120_000)));
        assert!(!step.is_current(Timestamp::from_ms(59_999)));
        assert_eq!(CodeStep::from_bytes(step.bytes()), step);
        assert_eq!(step.begins_at(), Timestamp::from_ms(60_000));
    }
}
