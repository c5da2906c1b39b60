//! Randomness from a seed, so that the same plan makes the same choices.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::ops::RangeInclusive;

/// The splitmix64 generator (Steele, Lea and Flood, 2014): ten lines, no dependency, and any two
/// seeds give unrelated streams.
#[derive(Clone, Debug)]
pub(crate) struct Rng(u64);

impl Rng {
    /// The stream of one fan, independent of the order in which fans run.
    pub(crate) fn of_fan(seed: u64, fan: u32) -> Rng {
        let mut rng = Rng(seed);
        Rng(rng.draw() ^ (u64::from(fan) << 20))
    }

    pub(crate) fn new(seed: u64) -> Rng {
        Rng(seed)
    }

    pub(crate) fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`; zero if `end` is zero.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.draw() % end.max(1)
    }

    pub(crate) fn within(&mut self, range: RangeInclusive<u64>) -> u64 {
        let length = range.end().saturating_sub(*range.start()).saturating_add(1);
        range.start() + self.below(length)
    }

    /// True with a probability of `share`.
    pub(crate) fn happens(&mut self, share: f64) -> bool {
        const STEPS: u64 = 1 << 32;
        (self.below(STEPS) as f64) < share * STEPS as f64
    }
}

/// A number unique to this run. Keys and addresses contain it, because a second run with the same
/// seed must not get the first one's stored answers.
pub(crate) fn run_number() -> u64 {
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_makes_the_same_choices_and_fans_differ() {
        let draws = |seed, fan| {
            let mut rng = Rng::of_fan(seed, fan);
            [rng.draw(), rng.draw(), rng.draw()]
        };
        assert_eq!(draws(7, 1), draws(7, 1));
        assert_ne!(draws(7, 1), draws(7, 2));
        assert_ne!(draws(7, 1), draws(8, 1));
    }

    #[test]
    fn a_share_of_none_never_happens_and_a_share_of_all_always_does() {
        let mut rng = Rng::new(1);
        for _ in 0..1_000 {
            assert!(!rng.happens(0.0) && rng.happens(1.0));
        }
    }
}
