//! The price of an order: what each ticket costs with its type and a promotion code, and the fees.
//!
//! Every won belongs to a seat or is the order's own fee, so that seats can be canceled one by one
//! without losing any. A discount on the whole order is divided over its seats.

pub mod options;
pub mod price_changes;
pub mod promotions;

use crate::{Currency, Refusal, Won};
use options::{Fees, TicketType, TypeMark};
use promotions::{Promotion, PromotionPer};
use serde::{Deserialize, Serialize};

/// A held seat and the type that the fan chose for it; the full price if none.
#[derive(Clone, Copy, Debug)]
pub struct ChosenSeat<'o> {
    pub grade: &'o str,
    pub list: Won,
    pub ticket_type: Option<&'o TicketType>,
}

/// What one seat costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeatPrice {
    /// The price of the grade.
    pub list: Won,
    /// The discounts of its type and of the promotion code.
    pub type_off: Won,
    pub code_off: Won,
    /// The booking fee of this ticket.
    pub fee: Won,
}

impl SeatPrice {
    /// The price of the ticket itself, without the fee.
    pub fn ticket(&self) -> Won {
        let off = self.type_off.checked_add(self.code_off).unwrap_or(self.list);
        self.list.checked_sub(off).unwrap_or(Won::ZERO)
    }
}

/// A priced order, with its seats in the order in which they were given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    pub seats: Vec<SeatPrice>,
    pub order_fee: Won,
}

impl Order {
    pub fn total(&self) -> Option<Won> {
        let seats = self.seats.iter().flat_map(|seat| [seat.ticket(), seat.fee]);
        Won::sum(seats.chain([self.order_fee]))
    }
}

/// Prices an order. Fees are charged for tickets that cost something: an order of free tickets
/// costs nothing.
pub fn price(
    seats: &[ChosenSeat<'_>],
    promotion: Option<&Promotion>,
    fees: &Fees,
    currency: Currency,
) -> Result<Order, Refusal> {
    let mut priced = Vec::with_capacity(seats.len());
    for seat in seats {
        let type_off = seat.ticket_type.map_or(Won::ZERO, |chosen| chosen.discount.of(seat.list));
        priced.push(SeatPrice { list: seat.list, type_off, ..SeatPrice::default() });
    }
    if let Some(promotion) = promotion {
        discount(seats, &mut priced, promotion)?;
    }
    let amount = |fee: &Option<options::Fee>| fee.as_ref().map_or(Won::ZERO, |fee| fee.amount);
    for seat in &mut priced {
        seat.fee = if seat.ticket().is_zero() { Won::ZERO } else { amount(&fees.booking) };
    }
    let is_free = priced.iter().all(|seat| seat.ticket().is_zero());
    let order_fee = if is_free { Won::ZERO } else { amount(&fees.order) };
    let order = Order { seats: priced, order_fee };
    match order.total() {
        Some(total) if total <= currency.per_payment_max() => Ok(order),
        _ => Err(Refusal::OrderTooExpensive { max: currency.per_payment_max() }),
    }
}

/// Applies a promotion to the seats of its grades.
fn discount(
    seats: &[ChosenSeat<'_>],
    priced: &mut [SeatPrice],
    promotion: &Promotion,
) -> Result<(), Refusal> {
    let applies = |seat: &ChosenSeat<'_>| promotion.applies_to(seat.grade);
    if !seats.iter().any(applies) {
        return Err(Refusal::PromotionOtherGrade);
    }
    let sum = Won::sum(priced.iter().map(SeatPrice::ticket)).unwrap_or(Won::MAX);
    if sum < promotion.amount_min {
        return Err(Refusal::PromotionMinimum { amount: promotion.amount_min });
    }
    // Seats of other grades weigh nothing.
    let weights: Vec<Won> = seats
        .iter()
        .zip(priced.iter())
        .map(|(seat, price)| if applies(seat) { price.ticket() } else { Won::ZERO })
        .collect();
    let shares = match promotion.per {
        PromotionPer::Ticket => weights.iter().map(|price| promotion.discount.of(*price)).collect(),
        PromotionPer::Order => {
            let whole = Won::sum(weights.iter().copied()).unwrap_or(Won::MAX);
            split(promotion.discount.of(whole), &weights)
        }
    };
    for (seat, share) in priced.iter_mut().zip(shares) {
        seat.code_off = share;
    }
    Ok(())
}

/// Divides an amount in proportion to the weights, whole won each: rounded down, and the won that
/// are left go to the largest remainders, the first of equal ones first. The amount is at most the
/// sum of the weights, so no share exceeds its weight.
fn split(amount: Won, weights: &[Won]) -> Vec<Won> {
    let sum: i128 = weights.iter().map(|weight| i128::from(weight.get())).sum();
    if sum == 0 {
        return vec![Won::ZERO; weights.len()];
    }
    let exact = |weight: &Won| i128::from(amount.get()) * i128::from(weight.get());
    let mut shares: Vec<i128> = weights.iter().map(|weight| exact(weight) / sum).collect();
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by_key(|at| std::cmp::Reverse(exact(&weights[*at]) % sum));
    let left = i128::from(amount.get()) - shares.iter().sum::<i128>();
    for at in order.into_iter().take(usize::try_from(left).unwrap_or(0)) {
        shares[at] += 1;
    }
    let won = |share| i64::try_from(share).ok().and_then(Won::new);
    shares.into_iter().map(|share| won(share).unwrap_or(Won::ZERO)).collect()
}

/// What a line of an order is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum LineKind {
    /// Tickets of one grade at the full price.
    Ticket,
    /// What a ticket type takes off.
    TypeDiscount,
    /// What a promotion code takes off.
    CodeDiscount,
    BookingFee,
    OrderFee,
}

/// A line of an order. The amounts of all lines add up to the amount of the order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct OrderLine {
    pub kind: LineKind,
    /// The grade, the ticket type or the code; absent for fees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name_en: Option<String>,
    /// How many tickets it is about; absent for the order's fee.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seats: Option<u32>,
    /// In whole won; negative for a discount.
    pub amount: i64,
}

/// A seat as the lines show it.
#[derive(Clone, Copy, Debug)]
pub struct LineSeat<'o> {
    pub grade: &'o str,
    pub price: SeatPrice,
    pub ticket_type: Option<&'o TypeMark>,
}

/// The lines of an order: tickets by grade, then the discounts, then the fees.
pub fn lines(seats: &[LineSeat<'_>], code: Option<&str>, order_fee: Won) -> Vec<OrderLine> {
    let mut lines: Vec<OrderLine> = Vec::new();
    for seat in seats {
        count(&mut lines, LineKind::Ticket, Some((seat.grade, None)), seat.price.list.get());
    }
    for seat in seats.iter().filter(|seat| !seat.price.type_off.is_zero()) {
        let name = seat.ticket_type.map(|mark| (mark.name.as_str(), Some(mark.name_en.as_str())));
        count(&mut lines, LineKind::TypeDiscount, name, -seat.price.type_off.get());
    }
    for seat in seats.iter().filter(|seat| !seat.price.code_off.is_zero()) {
        let name = code.map(|code| (code, None));
        count(&mut lines, LineKind::CodeDiscount, name, -seat.price.code_off.get());
    }
    for seat in seats.iter().filter(|seat| !seat.price.fee.is_zero()) {
        count(&mut lines, LineKind::BookingFee, None, seat.price.fee.get());
    }
    if !order_fee.is_zero() {
        let kind = LineKind::OrderFee;
        let (name, name_en, seats) = (None, None, None);
        lines.push(OrderLine { kind, name, name_en, seats, amount: order_fee.get() });
    }
    lines
}

fn count(
    lines: &mut Vec<OrderLine>,
    kind: LineKind,
    name: Option<(&str, Option<&str>)>,
    amount: i64,
) {
    let known = lines
        .iter_mut()
        .find(|line| line.kind == kind && line.name.as_deref() == name.map(|(name, _)| name));
    if let Some(line) = known {
        line.seats = line.seats.map(|n_seats| n_seats + 1);
        line.amount += amount;
        return;
    }
    lines.push(OrderLine {
        kind,
        name: name.map(|(name, _)| name.to_owned()),
        name_en: name.and_then(|(_, name_en)| name_en).map(str::to_owned),
        seats: Some(1),
        amount,
    });
}

#[cfg(test)]
mod tests;
