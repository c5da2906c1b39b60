//! The seats of a hall, created from its template, and their prices.

use crate::catalog::{Point, Stage, StandingZone};
use crate::{Currency, Money, Refusal, Won};
use std::collections::{BTreeMap, BTreeSet};

/// Every seat of a hall in layout order: the position here is the seat's index in a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeatPlan {
    pub seats: Vec<PlannedSeat>,
    pub stage: Option<Stage>,
    /// The focal point, if it isn't the middle of the stage.
    pub focus: Option<Point>,
    /// The standing zones by section.
    pub zones: BTreeMap<String, StandingZone>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedSeat {
    /// The number on the ticket, unique in the hall: `A-15`, `107-5-7`.
    pub number: String,
    /// `None` in a grid, which has no sections.
    pub section: Option<String>,
    pub row: String,
    pub grade: String,
    pub x: i32,
    pub y: i32,
    pub accessible: bool,
    pub companion: bool,
    pub restricted_view: bool,
    /// A place in a standing zone; its number is the order of entry.
    pub standing: bool,
}

/// The price of each seat, in layout order. A price of zero is refused, because a free seat could
/// be taken without a payment. So is a price for a grade without seats, which is a typing error.
pub fn price_seats(
    plan: &SeatPlan,
    prices: &BTreeMap<String, Won>,
    currency: Currency,
) -> Result<Vec<Won>, Refusal> {
    let max = currency.per_payment_max();
    let grades: BTreeSet<&String> = plan.seats.iter().map(|seat| &seat.grade).collect();
    for (grade, price) in prices {
        if !grades.contains(grade) {
            return Err(refuse(grade, "no seat has this grade"));
        }
        if price.is_zero() || max < *price {
            let most = Money::new(max, currency);
            return Err(refuse(grade, &format!("the price must be above zero, at most {most}")));
        }
    }
    let price = |grade| prices.get(grade).copied().ok_or_else(|| refuse(grade, "has no price"));
    plan.seats.iter().map(|seat| price(&seat.grade)).collect()
}

fn refuse(grade: &str, problem: &str) -> Refusal {
    Refusal::InvalidTemplate { at: format!("price of {grade}"), problem: problem.to_owned() }
}
