//! Random numbers from a seed: splitmix64 (Steele, Lea and Flood, 2014).

use std::time::Duration;

#[derive(Clone)]
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Rng {
        Rng(seed.wrapping_mul(0xd134_2543_de82_ef95))
    }

    pub(crate) fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.draw() % end
    }

    /// True in `percent` of a hundred draws.
    pub(crate) fn happens(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn ms(&mut self, least: u64, most: u64) -> Duration {
        Duration::from_micros(least * 1_000 + self.below((most - least) * 1_000 + 1))
    }

    pub(crate) fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }
}
