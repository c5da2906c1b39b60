//! Randomness from a seed: splitmix64 (Steele, Lea and Flood, 2014). One stream decides everything,
//! so a seed replays its run.

use podo_app::operations::port::clock;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

pub(crate) struct Rng(Mutex<u64>);

impl Rng {
    pub(crate) fn new(seed: u64) -> Rng {
        Rng(Mutex::new(seed))
    }

    fn draw(&self) -> u64 {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = *state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&self, end: u64) -> u64 {
        self.draw() % end
    }

    /// True with a probability of `percent`.
    pub(crate) fn happens(&self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// True with a probability of `per_mille`.
    pub(crate) fn happens_rarely(&self, per_mille: u64) -> bool {
        self.below(1_000) < per_mille
    }

    pub(crate) fn ms(&self, least: u64, most: u64) -> Duration {
        Duration::from_millis(least + self.below(most - least + 1))
    }

    pub(crate) fn one_of<T: Copy>(&self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }
}

impl clock::Rng for Rng {
    fn fill(&self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            let drawn = self.draw().to_le_bytes();
            chunk.copy_from_slice(&drawn[..chunk.len()]);
        }
    }
}
