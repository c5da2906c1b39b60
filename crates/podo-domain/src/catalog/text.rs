//! Text from users, validated once and kept as a type.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What is wrong with one field. Its text is `code` or `code:limit`; the HTTP layer turns it into a
/// sentence in the caller's language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FieldError {
    #[error("blank")]
    Blank,
    #[error("too_short:{min}")]
    TooShort { min: usize },
    #[error("too_long:{max}")]
    TooLong { max: usize },
    #[error("control_characters")]
    ControlCharacters,
    #[error("out_of_range:{min}..{max}")]
    OutOfRange { min: i64, max: i64 },
    #[error("not_an_email")]
    NotAnEmail,
    #[error("not_a_phone")]
    NotAPhone,
    #[error("not_a_hash")]
    NotAHash,
    #[error("not_a_zone")]
    NotAZone,
    #[error("not_a_time")]
    NotATime,
    #[error("too_common")]
    TooCommon,
    #[error("not_a_section")]
    NotASection,
    #[error("not_our_cursor")]
    NotOurCursor,
}

/// A line of text: trimmed, not blank, no control characters, at most `MAX` characters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Line<const MAX: usize>(String);

impl<const MAX: usize> Line<MAX> {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<const MAX: usize> TryFrom<String> for Line<MAX> {
    type Error = FieldError;

    fn try_from(text: String) -> Result<Self, FieldError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(FieldError::Blank);
        }
        if text.chars().count() > MAX {
            return Err(FieldError::TooLong { max: MAX });
        }
        if text.chars().any(char::is_control) {
            return Err(FieldError::ControlCharacters);
        }
        Ok(Line(text.to_owned()))
    }
}

impl<const MAX: usize> From<Line<MAX>> for String {
    fn from(line: Line<MAX>) -> String {
        line.0
    }
}

impl<const MAX: usize> fmt::Display for Line<MAX> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Longer text with line breaks, at most `MAX` characters; may be empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Prose<const MAX: usize>(String);

impl<const MAX: usize> Prose<MAX> {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<const MAX: usize> TryFrom<String> for Prose<MAX> {
    type Error = FieldError;

    fn try_from(text: String) -> Result<Self, FieldError> {
        if text.chars().count() > MAX {
            return Err(FieldError::TooLong { max: MAX });
        }
        if text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t')) {
            return Err(FieldError::ControlCharacters);
        }
        Ok(Prose(text.trim().to_owned()))
    }
}

impl<const MAX: usize> From<Prose<MAX>> for String {
    fn from(prose: Prose<MAX>) -> String {
        prose.0
    }
}

#[cfg(feature = "openapi")]
mod schema {
    use super::{Line, Prose};
    use std::borrow::Cow;
    use utoipa::openapi::RefOr;
    use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};

    /// At least one visible character, and no control characters.
    const LINE: &str = r"^[^\u0000-\u001f\u007f-\u009f]*[^\s\u0000-\u001f\u007f-\u009f][^\u0000-\u001f\u007f-\u009f]*$";

    impl<const MAX: usize> utoipa::PartialSchema for Line<MAX> {
        fn schema() -> RefOr<Schema> {
            ObjectBuilder::new()
                .schema_type(Type::String)
                .pattern(Some(LINE))
                .min_length(Some(1))
                .max_length(Some(MAX))
                .into()
        }
    }

    impl<const MAX: usize> utoipa::ToSchema for Line<MAX> {
        /// Lines of different lengths are different schemas.
        fn name() -> Cow<'static, str> {
            format!("Line{MAX}").into()
        }
    }

    impl<const MAX: usize> utoipa::PartialSchema for Prose<MAX> {
        fn schema() -> RefOr<Schema> {
            ObjectBuilder::new().schema_type(Type::String).max_length(Some(MAX)).into()
        }
    }

    impl<const MAX: usize> utoipa::ToSchema for Prose<MAX> {
        fn name() -> Cow<'static, str> {
            format!("Prose{MAX}").into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_trimmed_and_bounded() {
        let line = |text: &str| Line::<5>::try_from(text.to_owned()).map(String::from);
        assert_eq!(line("  포도 "), Ok("포도".to_owned()));
        assert_eq!(line(" "), Err(FieldError::Blank));
        assert_eq!(line("abcdef"), Err(FieldError::TooLong { max: 5 }));
        assert_eq!(line("a\u{0}b"), Err(FieldError::ControlCharacters));
    }

    #[test]
    fn prose_keeps_its_line_breaks() {
        let prose = Prose::<20>::try_from("one\ntwo".to_owned());
        assert_eq!(prose.map(String::from), Ok("one\ntwo".to_owned()));
    }
}
