//! The second factor: six-digit codes that change every half minute (RFC 6238), as in every
//! authenticator app. Small enough to need no crate.

use aws_lc_rs::hmac;
use podo_domain::Timestamp;

const STEP_MS: i64 = 30_000;

/// Tolerated clock difference, in steps.
const STEPS_OFF: i64 = 1;

/// The length of SHA-1's output, as the standard recommends.
pub const SECRET_BYTES: usize = 20;

/// The step of this code, if it's current. Each step must be used only once.
pub fn step_of(secret: &[u8], code: &str, now: Timestamp) -> Option<i64> {
    let current = now.ms().div_euclid(STEP_MS);
    let steps = current - STEPS_OFF..=current + STEPS_OFF;
    let is_right = |step: &i64| {
        let expected = code_at(secret, *step);
        aws_lc_rs::constant_time::verify_slices_are_equal(expected.as_bytes(), code.as_bytes())
            .is_ok()
    };
    steps.rev().find(is_right)
}

/// The current code.
pub fn code_now(secret: &[u8], now: Timestamp) -> String {
    code_at(secret, now.ms().div_euclid(STEP_MS))
}

fn code_at(secret: &[u8], step: i64) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, secret);
    let tag = hmac::sign(&key, &step.to_be_bytes());
    let tag = tag.as_ref();
    let offset = usize::from(tag[tag.len() - 1] & 15);
    let four: [u8; 4] = tag[offset..offset + 4]
        .try_into()
        .expect("the offset is at most 15 and the tag has 20 bytes");
    let number = u32::from_be_bytes(four) & 0x7fff_ffff;
    format!("{:06}", number % 1_000_000)
}

const ALPHABET: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// Base 32 without padding, as apps expect a secret.
pub fn base32(bytes: &[u8]) -> String {
    let bit = |index: usize| bytes.get(index / 8).map_or(0, |byte| byte >> (7 - index % 8) & 1);
    let letters = (bytes.len() * 8).div_ceil(5);
    let letter = |index: usize| {
        let value = (0..5).fold(0, |value, n| value << 1 | bit(5 * index + n));
        char::from(ALPHABET[usize::from(value)])
    };
    (0..letters).map(letter).collect()
}

/// The bytes of a secret in base 32.
pub fn from_base32(text: &str) -> Option<Vec<u8>> {
    let values: Option<Vec<u8>> = text.bytes().map(value_of).collect();
    let values = values?;
    let bit = |index: usize| values[index / 5] >> (4 - index % 5) & 1;
    let byte = |index: usize| (0..8).fold(0, |byte, n| byte << 1 | bit(8 * index + n));
    Some((0..values.len() * 5 / 8).map(byte).collect())
}

fn value_of(letter: u8) -> Option<u8> {
    let index = ALPHABET.iter().position(|known| *known == letter)?;
    u8::try_from(index).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The test vectors of RFC 6238, appendix B, cut to six digits.
    #[test]
    fn codes_are_those_of_the_standard() {
        let secret = b"12345678901234567890";
        for (seconds, code) in [
            (59, "287082"),
            (1_111_111_109, "081804"),
            (1_111_111_111, "050471"),
            (1_234_567_890, "005924"),
            (2_000_000_000, "279037"),
        ] {
            assert_eq!(code_now(secret, Timestamp::from_ms(seconds * 1_000)), code);
        }
    }

    #[test]
    fn a_code_is_right_for_a_step_before_and_after() {
        let (secret, at) = (b"12345678901234567890", |s: i64| Timestamp::from_ms(s * 1_000));
        let code = code_now(secret, at(3_000));
        assert_eq!(step_of(secret, &code, at(3_000)), Some(100));
        assert_eq!(step_of(secret, &code, at(3_030)), Some(100));
        assert_eq!(step_of(secret, &code, at(2_970)), Some(100));
        assert_eq!(step_of(secret, &code, at(3_060)), None);
        assert_eq!(step_of(secret, "", at(3_000)), None);
    }

    #[test]
    fn base_32_is_read_as_it_is_written() {
        assert_eq!(base32(b"12345678901234567890"), "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
        assert_eq!(
            from_base32("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ").unwrap(),
            b"12345678901234567890"
        );
        assert_eq!(from_base32("GE1"), None);
    }
}
