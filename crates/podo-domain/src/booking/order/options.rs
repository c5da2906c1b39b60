//! What an organiser sets for a date beside its prices: ticket types and fees.

use crate::{Currency, Refusal, Won};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Most ticket types of a date.
pub const TYPES_MAX: usize = 20;

/// How much something takes off a price. Percentages are rounded down to whole minor
/// units. `won` is what JSON has always called an amount off, in any currency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Discount {
    /// Of the price, 1 to 100.
    Percent(u32),
    /// Off the price, at most the price itself.
    Won(Won),
    /// What it costs instead, unless the price is lower.
    Price(Won),
}

/// As an object, because generators of clients can't join alternatives with the fields of a type or
/// code that has a discount.
#[cfg(feature = "openapi")]
mod openapi {
    use super::{Discount, Won};
    use utoipa::openapi::RefOr;
    use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};

    impl utoipa::PartialSchema for Discount {
        fn schema() -> RefOr<Schema> {
            let percent = ObjectBuilder::new()
                .schema_type(Type::Integer)
                .minimum(Some(1))
                .maximum(Some(100))
                .description(Some("Of the price."));
            ObjectBuilder::new()
                .description(Some("One of `percent`, `won` (an amount off the price, in any currency) and `price` (instead)."))
                .property("percent", percent)
                .property("won", <Won as utoipa::PartialSchema>::schema())
                .property("price", <Won as utoipa::PartialSchema>::schema())
                .into()
        }
    }

    impl utoipa::ToSchema for Discount {}
}

impl Discount {
    /// What it takes off this price.
    pub fn of(&self, price: Won) -> Won {
        match *self {
            Discount::Percent(percent) => {
                let off = i128::from(price.get()) * i128::from(percent.min(100)) / 100;
                i64::try_from(off).ok().and_then(Won::new).unwrap_or(price)
            }
            Discount::Won(off) => off.min(price),
            Discount::Price(fixed) => price.checked_sub(fixed).unwrap_or(Won::ZERO),
        }
    }

    /// The field that is wrong, by its name in the API.
    pub(crate) fn check(&self, currency: Currency) -> Result<(), &'static str> {
        let max = currency.per_payment_max();
        match *self {
            Discount::Percent(percent) if !(1..=100).contains(&percent) => Err("percent"),
            Discount::Won(off) if off.is_zero() || max < off => Err("won"),
            Discount::Price(fixed) if max < fixed => Err("price"),
            Discount::Percent(_) | Discount::Won(_) | Discount::Price(_) => Ok(()),
        }
    }
}

/// A kind of ticket, such as adult or child. A fan picks the seat first and its type at checkout.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct TicketType {
    /// Numbers of removed types aren't used again.
    pub id: u32,
    pub name: String,
    pub name_en: String,
    /// The grades that have it; absent for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grades: Option<BTreeSet<String>>,
    #[serde(flatten)]
    pub discount: Discount,
    /// Most tickets of this type in one order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_order: Option<u32>,
    /// What the gate asks for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof_en: Option<String>,
}

impl TicketType {
    pub fn applies_to(&self, grade: &str) -> bool {
        self.grades.as_ref().is_none_or(|grades| grades.contains(grade))
    }

    pub fn mark(&self) -> TypeMark {
        TypeMark {
            id: self.id,
            name: self.name.clone(),
            name_en: self.name_en.clone(),
            proof: self.proof.clone(),
            proof_en: self.proof_en.clone(),
        }
    }
}

/// A ticket's type as it was when the ticket was sold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct TypeMark {
    pub id: u32,
    pub name: String,
    pub name_en: String,
    /// What the gate asks for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof_en: Option<String>,
}

/// When a canceled ticket's fee goes back with it. If the organiser calls the show off or moves it,
/// all fees go back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum FeeRefund {
    Always,
    /// Until the day of the booking ends where the show takes place.
    BookingDay,
    Never,
}

impl FeeRefund {
    pub const fn goes_back(self, is_booking_day: bool) -> bool {
        match self {
            FeeRefund::Always => true,
            FeeRefund::BookingDay => is_booking_day,
            FeeRefund::Never => false,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Fee {
    pub amount: Won,
    pub refund: FeeRefund,
}

/// The fees of a date, as they are or as they were when an order was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Fees {
    /// For each ticket that isn't free.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub booking: Option<Fee>,
    /// Once for an order that isn't free.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<Fee>,
}

impl Fees {
    pub const fn is_none(&self) -> bool {
        self.booking.is_none() && self.order.is_none()
    }
}

/// The options of a date; a date without any stores nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PriceOptions {
    #[serde(default)]
    pub ticket_types: Vec<TicketType>,
    #[serde(default)]
    pub fees: Fees,
    /// The highest number that a type of the date ever had.
    #[serde(default)]
    pub last_type: u32,
}

/// A type that an organiser asks for; without an id a new one.
#[derive(Clone, Debug)]
pub struct TicketTypeInput {
    pub id: Option<u32>,
    pub name: String,
    pub name_en: String,
    pub grades: Option<BTreeSet<String>>,
    pub discount: Discount,
    pub per_order: Option<u32>,
    pub proof: Option<String>,
    pub proof_en: Option<String>,
}

impl PriceOptions {
    /// Whether a date with these needs nothing beyond its prices.
    pub fn is_plain(&self) -> bool {
        self.ticket_types.is_empty() && self.fees.is_none() && self.last_type == 0
    }

    /// The options after an organiser's change. Orders keep what they were made under.
    pub fn change(
        &self,
        asked: Vec<TicketTypeInput>,
        fees: Fees,
        prices: &BTreeMap<String, Won>,
        currency: Currency,
    ) -> Result<PriceOptions, Refusal> {
        let invalid = |field: String| Refusal::InvalidPriceOptions { field };
        if TYPES_MAX < asked.len() {
            return Err(invalid("ticketTypes".to_owned()));
        }
        for (fee, name) in [(fees.booking, "bookingFee"), (fees.order, "orderFee")] {
            if fee.is_some_and(|fee| fee.amount.is_zero() || currency.fee_max() < fee.amount) {
                return Err(invalid(format!("{name}.amount")));
            }
        }
        let mut last_type = self.last_type;
        let mut ticket_types: Vec<TicketType> = Vec::with_capacity(asked.len());
        for (at, ask) in asked.into_iter().enumerate() {
            let of = |name: &str| invalid(format!("ticketTypes[{at}].{name}"));
            check_type(&ask, prices, currency).map_err(of)?;
            let is_known = |id: &u32| self.ticket_types.iter().any(|known| known.id == *id);
            let is_repeated = |id: &u32| ticket_types.iter().any(|other| other.id == *id);
            let id = match ask.id {
                Some(id) if is_known(&id) && !is_repeated(&id) => id,
                Some(_) => return Err(of("id")),
                None => {
                    last_type += 1;
                    last_type
                }
            };
            if ticket_types.iter().any(|it| it.name == ask.name) {
                return Err(of("name"));
            }
            let TicketTypeInput {
                name, name_en, grades, discount, per_order, proof, proof_en, ..
            } = ask;
            let new =
                TicketType { id, name, name_en, grades, discount, per_order, proof, proof_en };
            ticket_types.push(new);
        }
        Ok(PriceOptions { ticket_types, fees, last_type })
    }

    pub fn ticket_type(&self, id: u32) -> Option<&TicketType> {
        self.ticket_types.iter().find(|known| known.id == id)
    }
}

fn check_type(
    ask: &TicketTypeInput,
    prices: &BTreeMap<String, Won>,
    currency: Currency,
) -> Result<(), &'static str> {
    let is_known = |grade: &String| prices.contains_key(grade);
    if ask.grades.as_ref().is_some_and(|it| it.is_empty() || !it.iter().all(is_known)) {
        return Err("grades");
    }
    ask.discount.check(currency)?;
    if let Discount::Price(fixed) = ask.discount {
        let applies = |grade: &&String| ask.grades.as_ref().is_none_or(|it| it.contains(*grade));
        let lowest = prices.keys().filter(applies).filter_map(|grade| prices.get(grade)).min();
        // A type that costs more than the seat would be a price of the grade.
        if lowest.is_some_and(|lowest| *lowest < fixed) {
            return Err("price");
        }
    }
    if ask.per_order.is_some_and(|max| !(1..=10).contains(&max)) {
        return Err("perOrder");
    }
    match (&ask.proof, &ask.proof_en) {
        (Some(_), None) => Err("proofEn"),
        (None, Some(_)) => Err("proof"),
        (Some(_), Some(_)) | (None, None) => Ok(()),
    }
}

/// The types for the seats of an order, as the fan chose them: by position, with the seat's grade.
/// Names the wrong one by its position in the request.
pub fn choose_types<'o>(
    options: &'o PriceOptions,
    chosen: &[(&str, Option<u32>)],
) -> Result<Vec<Option<&'o TicketType>>, Refusal> {
    let mut types: Vec<Option<&TicketType>> = Vec::with_capacity(chosen.len());
    for (at, (grade, id)) in chosen.iter().enumerate() {
        let field = || format!("seats[{at}].ticketTypeId");
        let found = match id {
            None => None,
            Some(id) => Some(
                options
                    .ticket_type(*id)
                    .ok_or_else(|| Refusal::TicketTypeUnknown { field: field() })?,
            ),
        };
        if found.is_some_and(|it| !it.applies_to(grade)) {
            return Err(Refusal::TicketTypeOtherGrade { field: field() });
        }
        types.push(found);
        let Some(found) = found else { continue };
        let n_chosen = types.iter().flatten().filter(|other| other.id == found.id).count();
        if let Some(max) = found.per_order.filter(|max| (*max as usize) < n_chosen) {
            return Err(Refusal::TicketTypeLimit { field: field(), max });
        }
    }
    Ok(types)
}
