//! The offset of a node's clock from the shared clock.

use crate::Timestamp;

/// A measurement with a larger possible error is useless.
const ERROR_MAX_MS: i64 = 1_000;

/// What to add to a node's clock to get the shared time, and the possible error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockOffset {
    pub ms: i64,
    pub error_ms: i64,
}

impl ClockOffset {
    /// The shared clock was read at some moment between request and answer: half of the round trip
    /// is the best estimate, and the largest possible error.
    pub const fn measured(
        asked_at: Timestamp,
        shared: Timestamp,
        answered_at: Timestamp,
    ) -> ClockOffset {
        let round_trip_ms = answered_at.ms() - asked_at.ms();
        let middle_ms = asked_at.ms() + round_trip_ms / 2;
        ClockOffset { ms: shared.ms() - middle_ms, error_ms: (round_trip_ms + 1) / 2 }
    }

    /// Chooses between two measurements. An imprecise `newer` one is ignored, and so is one that
    /// differs by less than its own error.
    #[must_use]
    pub const fn updated(self, newer: ClockOffset) -> ClockOffset {
        let differs = (newer.ms - self.ms).abs() > newer.error_ms;
        let is_vague = newer.error_ms > ERROR_MAX_MS;
        if !is_vague && (differs || newer.error_ms < self.error_ms) { newer } else { self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const fn at(ms: i64) -> Timestamp {
        Timestamp::from_ms(ms)
    }

    #[test]
    fn half_of_the_round_trip_is_allowed_for() {
        let offset = ClockOffset::measured(at(1_000), at(401_050), at(1_100));
        assert_eq!(offset, ClockOffset { ms: 400_000, error_ms: 50 });
    }

    #[test]
    fn jitter_is_not_followed_and_a_jump_is() {
        let known = ClockOffset { ms: 100, error_ms: 5 };
        assert_eq!(known.updated(ClockOffset { ms: 130, error_ms: 40 }), known);
        let jumped = ClockOffset { ms: -90_000, error_ms: 40 };
        assert_eq!(known.updated(jumped), jumped);
        let sharper = ClockOffset { ms: 101, error_ms: 1 };
        assert_eq!(known.updated(sharper), sharper);
    }

    #[test]
    fn a_vague_measurement_is_not_followed() {
        let known = ClockOffset { ms: 0, error_ms: 500 };
        assert_eq!(known.updated(ClockOffset { ms: 60_000, error_ms: 1_001 }), known);
    }

    proptest! {
        /// Whenever the shared clock was read, the true offset is within the error.
        #[test]
        fn the_error_covers_the_truth(
            asked_ms in 0i64..1_000_000,
            there_ms in 0i64..5_000,
            back_ms in 0i64..5_000,
            offset_ms in -1_000_000i64..1_000_000,
        ) {
            let read_ms = asked_ms + there_ms + offset_ms;
            let offset =
                ClockOffset::measured(at(asked_ms), at(read_ms), at(asked_ms + there_ms + back_ms));
            prop_assert!((offset.ms - offset_ms).abs() <= offset.error_ms);
        }
    }
}
