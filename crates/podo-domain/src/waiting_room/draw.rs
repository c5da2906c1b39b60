//! The draw: the order of the fans who gathered before the opening, which anyone can recompute.
//!
//! Before the opening we publish `commitment` = SHA-256 of a secret seed of 32 bytes; after it we
//! publish the seed and the number `n` of fans drawn. The fan who gathered at `index` (from 0) gets
//! place `ranks[index]` (from 0), where in Python:
//!
//! ```python
//! import hashlib
//!
//! def words(seed):
//!     block = 0
//!     while True:
//!         digest = hashlib.sha256(seed + block.to_bytes(8, "big")).digest()
//!         for start in (0, 8, 16, 24):
//!             yield int.from_bytes(digest[start:start + 8], "big")
//!         block += 1
//!
//! def draw(seed, n):
//!     stream = words(seed)
//!     ranks = list(range(n))
//!     for last in range(n - 1, 0, -1):
//!         bound = last + 1
//!         limit = 2**64 - 2**64 % bound
//!         word = next(stream)
//!         while word >= limit:
//!             word = next(stream)
//!         other = word % bound
//!         ranks[last], ranks[other] = ranks[other], ranks[last]
//!     return ranks
//! ```
//!
//! This is the Fisher–Yates shuffle from the last place down. A word at or above the largest
//! multiple of `bound` is discarded, because keeping it would favour small remainders.

use sha2::{Digest, Sha256};

/// Published before the opening: commits us to the seed without revealing it.
pub fn commitment(seed: &[u8; 32]) -> [u8; 32] {
    Sha256::digest(seed).into()
}

/// Whether this is the committed seed.
pub fn verify(seed: &[u8; 32], commitment: &[u8; 32]) -> bool {
    self::commitment(seed) == *commitment
}

/// The place in the queue, from 0, of each of the `n` fans, in the order in which they gathered.
pub fn permutation(seed: &[u8; 32], n: u32) -> Vec<u32> {
    let mut words = Words::of(seed);
    let mut ranks: Vec<u32> = (0..n).collect();
    for last in (1..ranks.len()).rev() {
        let other = words.below(last as u64 + 1);
        ranks.swap(last, usize::try_from(other).expect("an index is below the length of a vector"));
    }
    ranks
}

/// The endless stream of numbers derived from a seed.
struct Words<'a> {
    seed: &'a [u8; 32],
    block: u64,
    digest: [u8; 32],
    /// How many words of the digest have been used.
    used: usize,
}

const WORDS_PER_DIGEST: usize = 4;

impl Words<'_> {
    fn of(seed: &[u8; 32]) -> Words<'_> {
        Words { seed, block: 0, digest: [0; 32], used: WORDS_PER_DIGEST }
    }

    fn next(&mut self) -> u64 {
        if self.used == WORDS_PER_DIGEST {
            let hash = Sha256::new().chain_update(self.seed).chain_update(self.block.to_be_bytes());
            self.digest = hash.finalize().into();
            self.block += 1;
            self.used = 0;
        }
        let start = self.used * 8;
        self.used += 1;
        let word = self.digest[start..start + 8].try_into().expect("a word has eight bytes");
        u64::from_be_bytes(word)
    }

    /// A uniformly distributed number below `bound`.
    fn below(&mut self, bound: u64) -> u64 {
        // 2^64 mod bound, without leaving 64 bits.
        let left_over = (u64::MAX % bound + 1) % bound;
        loop {
            let word = self.next();
            if word <= u64::MAX - left_over {
                return word % bound;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SEED: [u8; 32] = *b"podo draws the order of the fans";

    #[test]
    fn the_recipe_gives_the_order_that_a_stranger_computes() {
        // From the Python program above.
        assert_eq!(permutation(&SEED, 10), [7, 6, 2, 8, 9, 0, 5, 1, 3, 4]);
        let thousand = permutation(&SEED, 1_000);
        assert_eq!(thousand[..5], [912, 921, 926, 591, 385]);
    }

    #[test]
    fn few_fans_are_drawn_too() {
        assert_eq!(permutation(&SEED, 0), Vec::<u32>::new());
        assert_eq!(permutation(&SEED, 1), [0]);
    }

    #[test]
    fn another_seed_is_another_order() {
        let mut other = SEED;
        other[31] ^= 1;
        assert_ne!(permutation(&SEED, 100), permutation(&other, 100));
    }

    #[test]
    fn only_the_committed_seed_fits_its_commitment() {
        let published = commitment(&SEED);
        assert!(verify(&SEED, &published));
        assert!(!verify(&[0; 32], &published));
    }

    #[test]
    fn everybody_has_the_same_chance_of_every_place() {
        const N_DRAWS: u32 = 6_000;
        let mut counts = [[0_u32; 6]; 6];
        for draw in 0..N_DRAWS {
            let mut seed = [0; 32];
            seed[..4].copy_from_slice(&draw.to_be_bytes());
            for (index, rank) in permutation(&seed, 6).into_iter().enumerate() {
                counts[index][rank as usize] += 1;
            }
        }
        // A fair cell holds 1,000 ± 29; six times that can't be chance.
        let fair = 1_000 - 175..1_000 + 175;
        assert!(counts.iter().flatten().all(|count| fair.contains(count)), "{counts:?}");
    }

    proptest! {
        #[test]
        fn every_place_is_given_once(seed: [u8; 32], n in 0_u32..300) {
            let mut ranks = permutation(&seed, n);
            ranks.sort_unstable();
            prop_assert!(ranks.into_iter().eq(0..n));
        }
    }
}
