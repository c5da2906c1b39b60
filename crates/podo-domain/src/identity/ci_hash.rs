//! How a list names a person without the CI: by its hash.

use crate::catalog::text::FieldError;

/// SHA-256 of a CI as the certifier returns it (the bytes of its text), in 64 lower-case hex digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CiHash(String);

impl CiHash {
    pub fn of_digest(digest: &[u8; 32]) -> CiHash {
        CiHash(digest.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for CiHash {
    type Error = FieldError;

    fn try_from(text: String) -> Result<CiHash, FieldError> {
        let text = text.trim().to_ascii_lowercase();
        let is_hash = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_hash { Ok(CiHash(text)) } else { Err(FieldError::NotAHash) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_has_64_hex_digits_in_either_case() {
        let digits = "0123456789ABCDEF".repeat(4);
        let hash = CiHash::try_from(format!(" {digits} ")).unwrap();
        assert_eq!(hash.as_str(), digits.to_lowercase());
        for wrong in ["", &digits[1..], &format!("{digits}0"), &digits.replace('A', "G")] {
            assert_eq!(CiHash::try_from(wrong.to_owned()), Err(FieldError::NotAHash), "{wrong}");
        }
        assert_eq!(CiHash::of_digest(&[0xa0; 32]).as_str(), "a0".repeat(32));
    }
}
