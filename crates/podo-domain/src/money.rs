//! Money: whole won, checked at every step.

use crate::catalog::text::FieldError;
use serde::{Deserialize, Serialize};
use std::fmt;

/// An amount in won. Never negative, never above [`Won::MAX`]: a sum that would leave the range is
/// an error, it doesn't wrap.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(try_from = "i64", into = "i64")]
pub struct Won(i64);

impl Won {
    pub const ZERO: Won = Won(0);

    /// One hundred billion won: more than a sold-out stadium, far below the limit of an i64.
    pub const MAX: Won = Won(100_000_000_000);

    /// The most that one payment may move (I3).
    pub const PER_PAYMENT_MAX: Won = Won(100_000_000);

    pub const fn new(amount: i64) -> Option<Won> {
        if 0 <= amount && amount <= Won::MAX.0 { Some(Won(amount)) } else { None }
    }

    pub const fn get(self) -> i64 {
        self.0
    }

    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    pub fn checked_add(self, other: Won) -> Option<Won> {
        self.0.checked_add(other.0).and_then(Won::new)
    }

    pub fn checked_sub(self, other: Won) -> Option<Won> {
        self.0.checked_sub(other.0).and_then(Won::new)
    }

    /// The sum, or `None` if it leaves the range.
    pub fn sum(amounts: impl IntoIterator<Item = Won>) -> Option<Won> {
        amounts.into_iter().try_fold(Won::ZERO, Won::checked_add)
    }
}

impl TryFrom<i64> for Won {
    type Error = FieldError;

    fn try_from(amount: i64) -> Result<Won, FieldError> {
        Won::new(amount).ok_or(FieldError::OutOfRange { min: 0, max: Won::MAX.0 })
    }
}

impl From<Won> for i64 {
    fn from(won: Won) -> i64 {
        won.0
    }
}

impl fmt::Display for Won {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} won", self.0)
    }
}

#[cfg(feature = "openapi")]
mod schema {
    use super::Won;
    use utoipa::openapi::RefOr;
    use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, Schema, SchemaFormat, Type};

    impl utoipa::PartialSchema for Won {
        fn schema() -> RefOr<Schema> {
            ObjectBuilder::new()
                .schema_type(Type::Integer)
                .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
                .minimum(Some(0))
                .maximum(Some(Won::MAX.0))
                .description(Some("Whole won"))
                .into()
        }
    }

    impl utoipa::ToSchema for Won {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_is_never_negative_and_never_wraps() {
        assert_eq!(Won::new(-1), None);
        assert_eq!(Won::new(i64::MAX), None);
        assert_eq!(Won::ZERO.checked_sub(Won(1)), None);
        assert_eq!(Won::MAX.checked_add(Won(1)), None);
        assert_eq!(Won::sum([Won(2), Won(3)]), Some(Won(5)));
        assert_eq!(Won::sum([Won::MAX, Won(1)]), None);
    }

    #[test]
    fn json_amounts_are_plain_integers_in_range() {
        let read = |text: &str| serde_json::from_str::<Won>(text).map(Won::get).ok();
        assert_eq!(read("150000"), Some(150_000));
        for bad in ["-1", "1.5", "\"1\"", "1e308", "9223372036854775808"] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }
}
