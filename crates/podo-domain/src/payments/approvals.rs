//! Four-eyes principle: how much one organiser may move alone, however many requests it is split
//! into.

use crate::{Currency, Won};

/// What one organiser has moved alone so far, in one currency. What two organisers approved doesn't
/// count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MovedAlone {
    /// Of this payment by any organiser, or of this wallet today.
    pub of_subject: Won,
    /// By this organiser today, in total.
    pub by_organiser: Won,
}

impl MovedAlone {
    /// Whether a second organiser has to approve before `amount` moves. One organiser alone moves at
    /// most [`Currency::alone_max`] of one payment, of one wallet in a day, and of all of them
    /// together in a day.
    pub fn needs_second(&self, amount: Won, currency: Currency) -> bool {
        let max = currency.alone_max();
        let is_within = |sum: Won| sum.checked_add(amount).is_some_and(|sum| sum <= max);
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

    const KRW: Currency = Currency::Krw;

    fn won(amount: i64) -> Won {
        Won::new(amount).unwrap()
    }

    #[test]
    fn sums_decide_and_not_single_amounts() {
        let before = |of_subject, by_organiser| MovedAlone {
            of_subject: won(of_subject),
            by_organiser: won(by_organiser),
        };
        assert!(!before(0, 0).needs_second(KRW.alone_max(), KRW));
        assert!(before(0, 0).needs_second(won(1_000_001), KRW));
        assert!(!before(600_000, 0).needs_second(won(400_000), KRW));
        assert!(before(600_000, 0).needs_second(won(400_001), KRW));
        assert!(before(0, 600_000).needs_second(won(400_001), KRW));
        assert!(before(0, 0).needs_second(Won::MAX, KRW));
        assert!(MovedAlone { of_subject: Won::MAX, ..before(0, 0) }.needs_second(Won::MAX, KRW));
    }

    #[test]
    fn every_currency_has_its_own_limit() {
        let none = MovedAlone::default();
        assert!(!none.needs_second(won(100_000), Currency::Eur), "1,000 euros");
        assert!(none.needs_second(won(100_001), Currency::Eur));
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
                if !moved.needs_second(part, KRW) {
                    let sum = moved.of_subject.checked_add(part).unwrap();
                    moved = MovedAlone { of_subject: sum, by_organiser: sum };
                }
                prop_assert!(moved.by_organiser <= KRW.alone_max());
            }
        }
    }
}
