//! Passwords, as people choose and type them.

use crate::catalog::text::FieldError;
use serde::Deserialize;
use std::collections::HashSet;
use std::fmt;
use std::sync::LazyLock;
use unicode_normalization::UnicodeNormalization;

/// A new password: 8 to 128 characters, no composition rules, not a common one. Different encodings
/// of the same text, as different keyboards produce them, are equal.
#[derive(Clone, Deserialize)]
#[serde(try_from = "String")]
pub struct NewPassword(String);

/// Minimum length of a password.
pub const PASSWORD_CHARS_MIN: usize = 8;
/// Maximum length of a password; all characters count.
pub const PASSWORD_CHARS_MAX: usize = 128;

impl NewPassword {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for NewPassword {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NewPassword(…)")
    }
}

impl TryFrom<String> for NewPassword {
    type Error = FieldError;

    fn try_from(text: String) -> Result<NewPassword, FieldError> {
        let text = normal(&text)?;
        let n_chars = text.chars().count();
        if n_chars < PASSWORD_CHARS_MIN {
            return Err(FieldError::TooShort { min: PASSWORD_CHARS_MIN });
        }
        if is_common(&text) {
            return Err(FieldError::TooCommon);
        }
        Ok(NewPassword(text))
    }
}

/// A password typed to log in: the same maximum length, without further checks.
#[derive(Clone, Deserialize)]
#[serde(try_from = "String")]
pub struct GivenPassword(String);

impl fmt::Debug for GivenPassword {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GivenPassword(…)")
    }
}

impl TryFrom<String> for GivenPassword {
    type Error = FieldError;

    fn try_from(text: String) -> Result<GivenPassword, FieldError> {
        normal(&text).map(GivenPassword)
    }
}

impl From<GivenPassword> for String {
    fn from(password: GivenPassword) -> String {
        password.0
    }
}

/// Normalizes to NFKC, so that the same password typed on another keyboard matches.
fn normal(text: &str) -> Result<String, FieldError> {
    let text: String = text.nfkc().take(PASSWORD_CHARS_MAX + 1).collect();
    match text.chars().count() > PASSWORD_CHARS_MAX {
        true => Err(FieldError::TooLong { max: PASSWORD_CHARS_MAX }),
        false => Ok(text),
    }
}

/// The passwords that attackers try first, of eight characters and more (from the public SecLists
/// collection, MIT), and the platform's own words.
static COMMON: LazyLock<HashSet<&'static str>> =
    LazyLock::new(|| include_str!("common_passwords.txt").lines().collect());

fn is_common(password: &str) -> bool {
    let lower = password.to_lowercase();
    let is_one_letter = lower.chars().all(|c| lower.starts_with(c));
    is_one_letter || COMMON.contains(lower.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_long_enough_and_not_a_common_one() {
        let password = |text: &str| NewPassword::try_from(text.to_owned()).map(|p| p.0).err();
        assert_eq!(password("맛있는포도송이들"), None);
        assert_eq!(password("short"), Some(FieldError::TooShort { min: 8 }));
        assert_eq!(password("aaaaaaaaaa"), Some(FieldError::TooCommon));
        assert_eq!(password(&"x1".repeat(65)), Some(FieldError::TooLong { max: 128 }));
        for common in ["Password123", "1q2w3e4r5t", "football1", "podopodo", "ticketing"] {
            assert_eq!(password(common), Some(FieldError::TooCommon), "{common}");
        }
    }

    #[test]
    fn letters_that_only_look_different_are_the_same() {
        let wide = GivenPassword::try_from("ｓｏｕｒ grapes".to_owned()).map(String::from);
        assert_eq!(wide, Ok("sour grapes".to_owned()));
        // Two encodings of 포도: as syllables, and as single letters.
        let letters = "\u{1111}\u{1169}\u{1103}\u{1169}".to_owned();
        assert_eq!(GivenPassword::try_from(letters).map(String::from), Ok("포도".to_owned()));
    }
}
