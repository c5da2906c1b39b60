//! What a receipt says beside the lines of the order: the tax in its amount, and who sells.

use crate::Currency;
use crate::booking::order::{LineKind, OrderLine};
use serde::{Deserialize, Serialize};

/// The parts of an amount for the Korean tax office, in whole won. They add up to the amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct IncludedTax {
    /// What is taxed, without the tax.
    pub supply: i64,
    /// Value-added tax, ten percent of `supply`.
    pub vat: i64,
    /// What isn't taxed.
    pub exempt: i64,
}

/// Prices include the tax. An exempt admission frees the tickets and their discounts; fees are a
/// service and always taxed. Orders in another currency than won are for shows abroad, which Korean
/// tax doesn't cover: their receipts say nothing about tax.
pub fn included_tax(
    lines: &[OrderLine],
    admission_is_exempt: bool,
    currency: Currency,
) -> Option<IncludedTax> {
    if currency != Currency::Krw {
        return None;
    }
    let (mut taxed, mut exempt) = (0, 0);
    for line in lines {
        match line.kind {
            LineKind::Ticket | LineKind::TypeDiscount | LineKind::CodeDiscount
                if admission_is_exempt =>
            {
                exempt += line.amount;
            }
            LineKind::Ticket
            | LineKind::TypeDiscount
            | LineKind::CodeDiscount
            | LineKind::BookingFee
            | LineKind::OrderFee => taxed += line.amount,
        }
    }
    // One eleventh of a price is its tax, rounded to the nearest won.
    let vat = (2 * taxed + 11) / 22;
    Some(IncludedTax { supply: taxed - vat, vat, exempt })
}

/// A Korean business registration number, with hyphens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BusinessNumber(String);

impl BusinessNumber {
    /// Ten digits, hyphens anywhere. The last digit checks the others.
    pub fn parse(text: &str) -> Option<BusinessNumber> {
        let digits: Vec<u32> = text
            .chars()
            .filter(|it| *it != '-')
            .map(|it| it.to_digit(10))
            .collect::<Option<_>>()?;
        let [first @ .., ninth, check] = digits.as_slice() else { return None };
        if first.len() != 8 {
            return None;
        }
        let weights = [1, 3, 7, 1, 3, 7, 1, 3];
        let sum: u32 = first.iter().zip(weights).map(|(digit, weight)| digit * weight).sum();
        let sum = sum + ninth * 5 + ninth * 5 / 10;
        if (10 - sum % 10) % 10 != *check {
            return None;
        }
        let digits: String = text.chars().filter(|it| *it != '-').collect();
        Some(BusinessNumber(format!("{}-{}-{}", &digits[..3], &digits[3..5], &digits[5..])))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(kind: LineKind, amount: i64) -> OrderLine {
        OrderLine { kind, name: None, name_en: None, seats: None, amount }
    }

    #[test]
    fn the_parts_add_up_and_fees_are_always_taxed() {
        let lines = [
            line(LineKind::Ticket, 300_000),
            line(LineKind::CodeDiscount, -20_000),
            line(LineKind::BookingFee, 4_000),
            line(LineKind::OrderFee, 3_300),
        ];
        let of = |lines: &[OrderLine], exempt| included_tax(lines, exempt, Currency::Krw).unwrap();
        let taxed = of(&lines, false);
        assert_eq!(taxed, IncludedTax { supply: 261_182, vat: 26_118, exempt: 0 });
        let exempt = of(&lines, true);
        assert_eq!(exempt, IncludedTax { supply: 6_636, vat: 664, exempt: 280_000 });
        for amount in 0..500 {
            let parts = of(&[line(LineKind::Ticket, amount)], false);
            assert_eq!(parts.supply + parts.vat, amount);
            assert!((parts.vat * 11 - amount).abs() <= 5, "{amount}: {parts:?}");
        }
        assert_eq!(included_tax(&lines, false, Currency::Eur), None, "not Korean tax");
    }

    #[test]
    fn a_business_number_is_known_by_its_check_digit() {
        let number = BusinessNumber::parse("2208162517").unwrap();
        assert_eq!(number.as_str(), "220-81-62517");
        assert_eq!(BusinessNumber::parse("220-81-62517"), Some(number));
        for odd in ["220-81-62518", "220-81-6251", "220-81-625177", "220-81-6251x", ""] {
            assert_eq!(BusinessNumber::parse(odd), None, "{odd}");
        }
    }
}
