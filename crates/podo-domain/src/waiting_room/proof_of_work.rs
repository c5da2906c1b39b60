//! A proof of work that costs a fan's device a moment and a bot farm a lot: find a number such that
//! the hash of salt and number starts with a given number of zero bits.

use sha2::{Digest, Sha256};

/// More would take a phone longer than people wait.
pub const BITS_MAX: u8 = 24;

/// Whether this number solves the challenge of this salt.
pub fn is_solved(salt: &str, number: u64, bits: u8) -> bool {
    let hash = Sha256::digest(format!("{salt}.{number}"));
    let first: [u8; 8] = hash[..8].try_into().expect("a hash has 32 bytes");
    u64::from_be_bytes(first).leading_zeros() >= u32::from(bits)
}

/// The smallest solution; for tests and for programs that play fans.
pub fn solve(salt: &str, bits: u8) -> u64 {
    let bits = bits.min(BITS_MAX);
    (0..).find(|number| is_solved(salt, *number, bits)).expect("one of 2^64 numbers solves it")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_solution_is_for_its_salt_and_its_bits() {
        let number = solve("grapes", 10);
        assert!(is_solved("grapes", number, 10));
        assert!((0..number).all(|it| !is_solved("grapes", it, 10)));
        assert!(!is_solved("raisins", number, 10) || !is_solved("wine", number, 10));
        assert!(is_solved("grapes", 0, 0), "no bits, no work");
    }

    /// The same solution that web/shared/challenge.js finds.
    #[test]
    fn the_challenge_is_the_one_that_the_pages_solve() {
        assert_eq!(solve("grapes", 16), 36_466);
    }
}
