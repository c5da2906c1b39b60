//! Accounts: what an address and a password must look like, and who may do what.

use crate::text::FieldError;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// How long an access token lives.
pub const ACCESS_TOKEN_LENGTH: Duration = Duration::from_secs(60 * 60);

/// How long a refresh token lives.
pub const REFRESH_TOKEN_LENGTH: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// A refresh token that was spent a moment ago is a lost answer or a second tab, not a thief.
pub const REFRESH_GRACE: Duration = Duration::from_secs(20);

/// An e-mail address in its one canonical form: trimmed, ASCII, lower case. Two spellings of one
/// address are one account.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Email(String);

impl Email {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Personal data stays out of logs.
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

/// A new password: 8 to 128 characters, no rules of composition, not one of the common ones.
#[derive(Clone, Deserialize)]
#[serde(try_from = "String")]
pub struct NewPassword(String);

/// Least characters of a password.
pub const PASSWORD_CHARS_MIN: usize = 8;
/// Most characters of a password; all of them count.
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
        let n_chars = text.chars().count();
        if n_chars < PASSWORD_CHARS_MIN {
            return Err(FieldError::TooShort { min: PASSWORD_CHARS_MIN });
        }
        if n_chars > PASSWORD_CHARS_MAX {
            return Err(FieldError::TooLong { max: PASSWORD_CHARS_MAX });
        }
        if is_common(&text) {
            return Err(FieldError::TooCommon);
        }
        Ok(NewPassword(text))
    }
}

/// A password that somebody types to log in: as long as a new one may be, and not judged.
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
        if text.chars().count() > PASSWORD_CHARS_MAX {
            return Err(FieldError::TooLong { max: PASSWORD_CHARS_MAX });
        }
        Ok(GivenPassword(text))
    }
}

impl From<GivenPassword> for String {
    fn from(password: GivenPassword) -> String {
        password.0
    }
}

/// The worst of the lists of leaked passwords, and the name of the house.
fn is_common(password: &str) -> bool {
    const COMMON: [&str; 20] = [
        "password",
        "12345678",
        "123456789",
        "1234567890",
        "qwertyuiop",
        "qwerty123",
        "11111111",
        "00000000",
        "iloveyou",
        "password1",
        "password123",
        "1q2w3e4r",
        "1q2w3e4r5t",
        "asdfghjkl",
        "abcd1234",
        "88888888",
        "sunshine",
        "princess",
        "football",
        "podopodo",
    ];
    let lower = password.to_lowercase();
    let is_one_letter = lower.chars().all(|c| lower.starts_with(c));
    is_one_letter || COMMON.contains(&lower.as_str())
}

/// A phone number in E.164 form; Korean numbers may leave out +82.
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "UPPERCASE")]
pub enum Role {
    User,
    Admin,
}

impl Role {
    pub const fn as_str(self) -> &'static str {
        match self {
            Role::User => "USER",
            Role::Admin => "ADMIN",
        }
    }

    pub fn parse(text: &str) -> Option<Role> {
        [Role::User, Role::Admin].into_iter().find(|role| role.as_str() == text)
    }
}

#[cfg(feature = "openapi")]
mod schema {
    use super::{Email, GivenPassword, NewPassword, PASSWORD_CHARS_MAX, PASSWORD_CHARS_MIN, Phone};
    use utoipa::openapi::RefOr;
    use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, Schema, SchemaFormat, Type};

    fn text() -> ObjectBuilder {
        ObjectBuilder::new().schema_type(Type::String)
    }

    impl utoipa::PartialSchema for Email {
        fn schema() -> RefOr<Schema> {
            let format = SchemaFormat::KnownFormat(KnownFormat::Email);
            text().format(Some(format)).max_length(Some(254)).into()
        }
    }
    impl utoipa::ToSchema for Email {}

    impl utoipa::PartialSchema for NewPassword {
        fn schema() -> RefOr<Schema> {
            text()
                .format(Some(SchemaFormat::KnownFormat(KnownFormat::Password)))
                .min_length(Some(PASSWORD_CHARS_MIN))
                .max_length(Some(PASSWORD_CHARS_MAX))
                .into()
        }
    }
    impl utoipa::ToSchema for NewPassword {}

    impl utoipa::PartialSchema for GivenPassword {
        fn schema() -> RefOr<Schema> {
            let format = SchemaFormat::KnownFormat(KnownFormat::Password);
            text().format(Some(format)).max_length(Some(PASSWORD_CHARS_MAX)).into()
        }
    }
    impl utoipa::ToSchema for GivenPassword {}

    impl utoipa::PartialSchema for Phone {
        fn schema() -> RefOr<Schema> {
            text().max_length(Some(32)).into()
        }
    }
    impl utoipa::ToSchema for Phone {}
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
    fn a_password_is_long_enough_and_not_a_common_one() {
        let password = |text: &str| NewPassword::try_from(text.to_owned()).map(|p| p.0).err();
        assert_eq!(password("맛있는포도송이들"), None);
        assert_eq!(password("short"), Some(FieldError::TooShort { min: 8 }));
        assert_eq!(password("Password123"), Some(FieldError::TooCommon));
        assert_eq!(password("aaaaaaaaaa"), Some(FieldError::TooCommon));
        assert_eq!(password(&"x1".repeat(65)), Some(FieldError::TooLong { max: 128 }));
    }

    #[test]
    fn korean_phone_numbers_are_understood_without_the_country_code() {
        let phone = |text: &str| Phone::try_from(text.to_owned()).map(String::from);
        assert_eq!(phone("010-1234-5678"), Ok("+821012345678".to_owned()));
        assert_eq!(phone("+1 212 555 0100"), Ok("+12125550100".to_owned()));
        assert_eq!(phone("call me"), Err(FieldError::NotAPhone));
    }

    #[test]
    fn personal_data_does_not_reach_the_logs() {
        let email = Email::try_from("kim@example.com".to_owned()).unwrap();
        assert!(!format!("{email:?}").contains("kim"));
    }
}
