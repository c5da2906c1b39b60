//! E-mail addresses.

use crate::catalog::text::FieldError;
use serde::{Deserialize, Serialize};
use std::fmt;

/// An e-mail address in canonical form: trimmed, ASCII, lower case. Two spellings of one address
/// are one account.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Email(String);

impl Email {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Keeps personal data out of logs.
impl fmt::Debug for Email {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Email(…)")
    }
}

impl TryFrom<String> for Email {
    type Error = FieldError;

    fn try_from(text: String) -> Result<Email, FieldError> {
        let text = text.trim().to_ascii_lowercase();
        if text.len() > 254 {
            return Err(FieldError::TooLong { max: 254 });
        }
        let (local, host) = text.rsplit_once('@').ok_or(FieldError::NotAnEmail)?;
        if is_local_part(local) && is_host(host) {
            Ok(Email(text))
        } else {
            Err(FieldError::NotAnEmail)
        }
    }
}

fn is_local_part(local: &str) -> bool {
    !local.is_empty()
        && local.len() <= 64
        && !local.starts_with('.')
        && !local.ends_with('.')
        && !local.contains("..")
        && local.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~.".contains(&b))
}

fn is_host(host: &str) -> bool {
    let is_label = |label: &str| {
        !label.is_empty()
            && label.len() <= 63
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
    };
    host.contains('.') && host.split('.').all(is_label)
}

impl From<Email> for String {
    fn from(email: Email) -> String {
        email.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_spellings_of_one_address_are_one_account() {
        let email = |text: &str| Email::try_from(text.to_owned()).map(String::from);
        assert_eq!(email(" Kim@Example.COM "), Ok("kim@example.com".to_owned()));
        for bad in ["kim", "kim@", "@example.com", "mıke@example.org", "a b@example.com", "a@b"] {
            assert_eq!(email(bad), Err(FieldError::NotAnEmail), "{bad}");
        }
    }

    #[test]
    fn personal_data_does_not_reach_the_logs() {
        let email = Email::try_from("kim@example.com".to_owned()).unwrap();
        assert!(!format!("{email:?}").contains("kim"));
    }
}
