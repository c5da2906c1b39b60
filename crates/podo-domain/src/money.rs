//! Money: whole minor units of a currency, checked at every step.
//!
//! Rules compute with bare amounts, because everything about one order is in the currency of its
//! event. [`Money`] joins the two where an amount is shown, sent or compared across events.

use crate::catalog::text::FieldError;
use serde::{Deserialize, Serialize};
use std::fmt;

/// An amount in minor units of its currency: won, yen, cents. Never negative, never above
/// [`Won::MAX`]: a sum that would leave the range is an error, it doesn't wrap.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(try_from = "i64", into = "i64")]
pub struct Won(i64);

impl Won {
    pub const ZERO: Won = Won(0);

    /// One hundred billion: more won than a sold-out stadium brings, far below the limit of an i64.
    pub const MAX: Won = Won(100_000_000_000);

    /// The most that one payment may move in any currency (I3); see [`Currency::per_payment_max`].
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

/// The bare number, for logs.
impl fmt::Display for Won {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The currency of an event, by its code of ISO 4217.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "UPPERCASE")]
pub enum Currency {
    /// What everything was sold in before events had a currency.
    #[default]
    Krw,
    Jpy,
    Eur,
    Usd,
    Gbp,
}

impl Currency {
    pub const ALL: [Currency; 5] =
        [Currency::Krw, Currency::Jpy, Currency::Eur, Currency::Usd, Currency::Gbp];

    pub const fn as_str(self) -> &'static str {
        match self {
            Currency::Krw => "KRW",
            Currency::Jpy => "JPY",
            Currency::Eur => "EUR",
            Currency::Usd => "USD",
            Currency::Gbp => "GBP",
        }
    }

    pub fn parse(code: &str) -> Option<Currency> {
        Currency::ALL.into_iter().find(|currency| currency.as_str() == code)
    }

    pub const fn symbol(self) -> &'static str {
        match self {
            Currency::Krw => "₩",
            Currency::Jpy => "¥",
            Currency::Eur => "€",
            Currency::Usd => "$",
            Currency::Gbp => "£",
        }
    }

    /// Decimal digits of the minor unit: an amount of 1250 is 12.50 euros and 1,250 won.
    pub const fn minor_digits(self) -> u32 {
        match self {
            Currency::Krw | Currency::Jpy => 0,
            Currency::Eur | Currency::Usd | Currency::Gbp => 2,
        }
    }

    /// Limits are round numbers of about the same value in every currency, in minor units. One
    /// payment moves at most this.
    pub const fn per_payment_max(self) -> Won {
        match self {
            Currency::Krw => Won::PER_PAYMENT_MAX,
            Currency::Jpy => Won(10_000_000),
            Currency::Eur | Currency::Usd | Currency::Gbp => Won(10_000_000),
        }
    }

    /// The highest fee of a ticket or an order, which no seller comes near: more is a typing error.
    pub const fn fee_max(self) -> Won {
        match self {
            Currency::Krw => Won(100_000),
            Currency::Jpy => Won(10_000),
            Currency::Eur | Currency::Usd | Currency::Gbp => Won(10_000),
        }
    }

    /// What one organiser moves alone (four eyes).
    pub const fn alone_max(self) -> Won {
        match self {
            Currency::Krw => Won(1_000_000),
            Currency::Jpy => Won(100_000),
            Currency::Eur | Currency::Usd | Currency::Gbp => Won(100_000),
        }
    }
}

/// An amount with its currency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Money {
    pub amount: Won,
    pub currency: Currency,
}

impl Money {
    pub const fn new(amount: Won, currency: Currency) -> Money {
        Money { amount, currency }
    }

    /// `1,234.50` or `150,000`: the number without its currency.
    pub fn number(self) -> String {
        let unit = 10_i64.pow(self.currency.minor_digits());
        let (whole, rest) = (self.amount.get() / unit, self.amount.get() % unit);
        let digits = whole.to_string();
        let mut text = String::new();
        for (index, digit) in digits.chars().enumerate() {
            if 0 < index && (digits.len() - index).is_multiple_of(3) {
                text.push(',');
            }
            text.push(digit);
        }
        match self.currency.minor_digits() {
            0 => text,
            n_digits => format!("{text}.{rest:0width$}", width = n_digits as usize),
        }
    }
}

/// `1,234.50 EUR`, for people who read logs and exports.
impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.number(), self.currency.as_str())
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
                .description(Some("In minor units of its currency: whole won, yen, or cents"))
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
    fn a_currency_is_known_by_its_code_and_shows_its_minor_units() {
        let shown = |amount, currency| Money::new(Won(amount), currency).to_string();
        assert_eq!(shown(150_000, Currency::Krw), "150,000 KRW");
        assert_eq!(shown(1_000_000, Currency::Jpy), "1,000,000 JPY");
        assert_eq!(shown(123_450, Currency::Eur), "1,234.50 EUR");
        assert_eq!(shown(5, Currency::Gbp), "0.05 GBP");
        assert_eq!(shown(0, Currency::Usd), "0.00 USD");
        for currency in Currency::ALL {
            assert_eq!(Currency::parse(currency.as_str()), Some(currency));
            let json = format!("\"{}\"", currency.as_str());
            assert_eq!(serde_json::from_str::<Currency>(&json).ok(), Some(currency));
            assert!(currency.fee_max() < currency.alone_max());
            assert!(currency.alone_max() < currency.per_payment_max());
            assert!(currency.per_payment_max() <= Won::PER_PAYMENT_MAX);
        }
        assert_eq!((Currency::parse("CHF"), Currency::parse("eur")), (None, None));
        assert_eq!(Currency::default(), Currency::Krw);
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
