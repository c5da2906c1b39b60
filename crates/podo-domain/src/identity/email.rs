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

/// An address that its owner recognises and that no one can write to: `ki***@podo.kr`.
pub fn masked(email: &str) -> String {
    let (local, host) = email.rsplit_once('@').unwrap_or((email, ""));
    let n_shown = if local.chars().count() > MASKED_SHOWN { MASKED_SHOWN } else { 1 };
    let shown: String = local.chars().take(n_shown).collect();
    format!("{shown}***@{host}")
}

/// Characters of an address that stay legible.
const MASKED_SHOWN: usize = 2;

/// Fewest characters that a search by the beginning of an address needs.
const EMAIL_SEARCH_MIN: usize = 3;

/// Most characters of a hashed prefix. A longer search finds the prefix and compares the rest.
const PREFIX_MAX: usize = 8;

/// The parts under which an address is found although it is encrypted: its first characters, and
/// its domain with the `@`.
pub fn email_prefixes(email: &str) -> Vec<String> {
    let Some((local, host)) = email.rsplit_once('@') else { return Vec::new() };
    let local: Vec<char> = local.chars().collect();
    let longest = local.len().min(PREFIX_MAX);
    let mut parts: Vec<String> =
        (EMAIL_SEARCH_MIN..=longest).map(|length| local[..length].iter().collect()).collect();
    parts.push(format!("@{host}"));
    parts
}

/// A search by the beginning of an address, or by its domain: `kim`, `@podo.kr`.
#[derive(Clone, PartialEq, Eq)]
pub struct EmailSearch(String);

impl EmailSearch {
    /// `None` if no address can begin like this, or too many do.
    pub fn parse(text: &str) -> Option<EmailSearch> {
        let text = text.trim().to_ascii_lowercase();
        let is_searched = match text.strip_prefix('@') {
            Some(host) => is_host(host),
            None => text.len() >= EMAIL_SEARCH_MIN && is_local_part(text.trim_end_matches('.')),
        };
        is_searched.then_some(EmailSearch(text))
    }

    /// The part to look up.
    pub fn part(&self) -> String {
        match self.0.starts_with('@') {
            true => self.0.clone(),
            false => self.0.chars().take(PREFIX_MAX).collect(),
        }
    }

    pub fn matches(&self, email: &str) -> bool {
        match self.0.starts_with('@') {
            true => email.ends_with(&self.0),
            false => email.starts_with(&self.0),
        }
    }
}

/// Keeps personal data out of logs.
impl fmt::Debug for EmailSearch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EmailSearch(…)")
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
    fn a_masked_address_shows_its_owner_and_no_one_else() {
        assert_eq!(masked("kim.podo@podo.kr"), "ki***@podo.kr");
        assert_eq!(masked("kim@podo.kr"), "ki***@podo.kr");
        assert_eq!(masked("ki@podo.kr"), "k***@podo.kr", "not the whole local part");
        assert_eq!(masked("k@podo.kr"), "k***@podo.kr");
    }

    #[test]
    fn an_address_is_found_by_its_beginning_and_by_its_domain_only() {
        let found = |email: &str, text: &str| {
            let search = EmailSearch::parse(text).unwrap();
            email_prefixes(email).contains(&search.part()) && search.matches(email)
        };
        assert!(found("kim.podo@podo.kr", "kim"));
        assert!(found("kim.podo@podo.kr", " KIM.P "));
        assert!(found("kim.podo.fan@podo.kr", "kim.podo.f"), "longer than the hashed prefix");
        assert!(found("kim.podo@podo.kr", "@podo.kr"));
        assert!(!found("kim.podo@podo.kr", "podo"), "not in the middle");
        assert!(!found("kim.podo.fan@podo.kr", "kim.podo.x"), "the rest is compared");
        assert!(!found("kim@mail.podo.kr", "@podo.kr"), "a domain is whole");
        assert!(!found("ki@podo.kr", "kim"));
        for text in ["ki", "", "@", "@podo", "김포도", "kim podo", "kim@podo.kr"] {
            assert!(EmailSearch::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn personal_data_does_not_reach_the_logs() {
        let email = Email::try_from("kim@example.com".to_owned()).unwrap();
        assert!(!format!("{email:?}").contains("kim"));
        assert!(!format!("{:?}", EmailSearch::parse("kim")).contains("kim"));
    }
}
