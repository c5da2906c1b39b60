//! Phone numbers.

use crate::catalog::text::FieldError;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A phone number in E.164 form; Korean numbers may omit +82.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Phone(String);

impl Phone {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Phone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Phone(…)")
    }
}

impl TryFrom<String> for Phone {
    type Error = FieldError;

    fn try_from(text: String) -> Result<Phone, FieldError> {
        if text.len() > 32 || text.bytes().any(|b| !b.is_ascii_digit() && !b"+-() ".contains(&b)) {
            return Err(FieldError::NotAPhone);
        }
        let digits: String = text.chars().filter(char::is_ascii_digit).collect();
        let international = match (text.trim_start().starts_with('+'), digits.strip_prefix('0')) {
            (true, _) => digits,
            (false, Some(national)) => format!("82{national}"),
            (false, None) => return Err(FieldError::NotAPhone),
        };
        if (8..=15).contains(&international.len()) {
            Ok(Phone(format!("+{international}")))
        } else {
            Err(FieldError::NotAPhone)
        }
    }
}

impl From<Phone> for String {
    fn from(phone: Phone) -> String {
        phone.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn korean_phone_numbers_are_understood_without_the_country_code() {
        let phone = |text: &str| Phone::try_from(text.to_owned()).map(String::from);
        assert_eq!(phone("010-1234-5678"), Ok("+821012345678".to_owned()));
        assert_eq!(phone("+1 212 555 0100"), Ok("+12125550100".to_owned()));
        assert_eq!(phone("call me"), Err(FieldError::NotAPhone));
    }
}
