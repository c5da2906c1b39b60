//! Four-eyes principle: how much one organiser may move alone, however many requests it is split
//! into.

use crate::Won;

/// One organiser alone moves at most this much of one payment, of one wallet in a day, and of all
/// of them together in a day. Anything beyond needs a second organiser.
pub const ALONE_MAX: Won = match Won::new(1_000_000) {
    Some(amount) => amount,
    None => panic!("one million won is in range"),
};

/// What one organiser has moved alone so far. What two organisers approved doesn't count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MovedAlone {
    /// Of this payment by any organiser, or of this wallet today.
    pub of_subject: Won,
    /// By this organiser today, in total.
    pub by_organiser: Won,
}

impl MovedAlone {
    /// Whether a second organiser has to approve before `amount` moves.
    pub fn needs_second(&self, amount: Won) -> bool {
        let is_within = |sum: Won| sum.checked_add(amount).is_some_and(|sum| sum <= ALONE_MAX);
        !(is_within(self.of_subject) && is_within(self.by_organiser))
    }
}

/// How much a wallet correction counts: debits count like credits.
pub fn weight_of_correction(amount: i64) -> Won {
    i64::try_from(amount.unsigned_abs()).ok().and_then(Won::new).unwrap_or(Won::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn won(amount: i64) -> Won {
        Won::new(amount).unwrap()
    }

    #[test]
    fn sums_decide_and_not_single_amounts() {
        let before = |of_subject, by_organiser| MovedAlone {
            of_subject: won(of_subject),
            by_organiser: won(by_organiser),
        };
        assert!(!before(0, 0).needs_second(ALONE_MAX));
        assert!(before(0, 0).needs_second(won(1_000_001)));
        assert!(!before(600_000, 0).needs_second(won(400_000)));
        assert!(before(600_000, 0).needs_second(won(400_001)));
        assert!(before(0, 600_000).needs_second(won(400_001)));
        assert!(before(0, 0).needs_second(Won::MAX));
        assert!(MovedAlone { of_subject: Won::MAX, ..before(0, 0) }.needs_second(Won::MAX));
    }

    #[test]
    fn taking_counts_like_giving() {
        assert_eq!(weight_of_correction(-5), won(5));
        assert_eq!(weight_of_correction(5), won(5));
        assert_eq!(weight_of_correction(i64::MIN), Won::MAX);
    }

    proptest! {
        /// However a sum is split, and in whatever order the parts arrive.
        #[test]
        fn parts_moved_alone_never_exceed_the_limit(
            parts in prop::collection::vec(1i64..1_500_000, 1..40)
        ) {
            let mut moved = MovedAlone::default();
            for part in parts.into_iter().map(won) {
                if !moved.needs_second(part) {
                    let sum = moved.of_subject.checked_add(part).unwrap();
                    moved = MovedAlone { of_subject: sum, by_organiser: sum };
                }
                prop_assert!(moved.by_organiser <= ALONE_MAX);
            }
        }
    }
}
