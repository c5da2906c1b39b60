//! Promotion codes: what they take off, for which seats, and when.

use crate::booking::order::options::Discount;
use crate::{Currency, PromotionId, Refusal, Timestamp, Won};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Most uses of one code.
pub const USES_MAX: u32 = 1_000_000;

/// What a code's discount is computed from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "UPPERCASE")]
pub enum PromotionPer {
    /// The sum of the order's tickets.
    #[default]
    Order,
    /// Each ticket by itself.
    Ticket,
}

impl PromotionPer {
    pub const fn as_str(self) -> &'static str {
        match self {
            PromotionPer::Order => "ORDER",
            PromotionPer::Ticket => "TICKET",
        }
    }

    pub fn parse(text: &str) -> Option<PromotionPer> {
        [PromotionPer::Order, PromotionPer::Ticket].into_iter().find(|per| per.as_str() == text)
    }
}

/// A code and its terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Promotion {
    pub id: PromotionId,
    /// As the fan types it, cleaned by [`clean_code`].
    pub code: String,
    pub discount: Discount,
    pub per: PromotionPer,
    /// The grades that it is for; all if absent.
    pub grades: Option<BTreeSet<String>>,
    /// The least that the tickets cost before the code.
    pub amount_min: Won,
    pub starts_at: Option<Timestamp>,
    pub ends_at: Option<Timestamp>,
    /// Orders in all, and of one person.
    pub uses_max: u32,
    pub uses_per_person: Option<u32>,
}

impl Promotion {
    pub fn applies_to(&self, grade: &str) -> bool {
        self.grades.as_ref().is_none_or(|grades| grades.contains(grade))
    }

    pub fn check_open(&self, now: Timestamp) -> Result<(), Refusal> {
        if let Some(starts_at) = self.starts_at.filter(|starts_at| now < *starts_at) {
            return Err(Refusal::PromotionNotBegun { starts_at });
        }
        if self.ends_at.is_some_and(|ends_at| ends_at <= now) {
            return Err(Refusal::PromotionOver);
        }
        Ok(())
    }

    /// Whether an organiser may offer this. Names the wrong field.
    pub fn check(&self, prices: &BTreeMap<String, Won>, currency: Currency) -> Result<(), Refusal> {
        let invalid = |field: &'static str| Err(Refusal::InvalidPromotion { field });
        if let Err(field) = self.discount.check(currency) {
            return invalid(field);
        }
        if matches!(self.discount, Discount::Price(_)) {
            return invalid("price");
        }
        let is_known = |grade: &String| prices.contains_key(grade);
        if self.grades.as_ref().is_some_and(|it| it.is_empty() || !it.iter().all(is_known)) {
            return invalid("grades");
        }
        if currency.per_payment_max() < self.amount_min {
            return invalid("amountMin");
        }
        if !(1..=USES_MAX).contains(&self.uses_max) {
            return invalid("usesMax");
        }
        if self.uses_per_person.is_some_and(|max| max == 0 || self.uses_max < max) {
            return invalid("usesPerPerson");
        }
        match (self.starts_at, self.ends_at) {
            (Some(starts_at), Some(ends_at)) if ends_at <= starts_at => invalid("endsAt"),
            _ => Ok(()),
        }
    }
}

/// Capital letters and digits, without the spaces and dashes that make a code readable.
pub fn clean_code(code: &str) -> Option<String> {
    let kept = code.chars().filter(|letter| !letter.is_whitespace() && *letter != '-');
    let code: String = kept.map(|letter| letter.to_ascii_uppercase()).collect();
    let is_code =
        (3..=32).contains(&code.len()) && code.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_code.then_some(code)
}
