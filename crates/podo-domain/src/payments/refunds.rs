//! Refunds: what an event retains of a canceled ticket, and where the rest goes.

use crate::{Refusal, Timestamp, Won};
use serde::{Deserialize, Serialize};

/// Most steps in a policy.
const STEPS_MAX: usize = 10;

/// The most that an event may retain: a part is always refunded.
const FEE_PERCENT_MAX: u32 = 90;

/// Earliest step: no seats are sold two years ahead.
const DAYS_MAX: u32 = 730;

/// From `days_before` days before the show on, this percentage of the price is retained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FeeStep {
    pub days_before: u32,
    pub fee_percent: u32,
}

/// An event's terms: steps from the earliest to the latest. After the last step's days nothing can
/// be canceled; without steps everything is refunded until the show begins.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct RefundPolicy {
    pub steps: Vec<FeeStep>,
}

impl RefundPolicy {
    /// Days must decrease and fees must not, so that waiting never pays off.
    pub fn check(&self) -> Result<(), Refusal> {
        let is_in_range =
            |step: &FeeStep| step.fee_percent <= FEE_PERCENT_MAX && step.days_before <= DAYS_MAX;
        let is_in_order = |pair: &[FeeStep]| {
            pair[0].days_before > pair[1].days_before && pair[0].fee_percent <= pair[1].fee_percent
        };
        let is_sound = self.steps.len() <= STEPS_MAX
            && self.steps.iter().all(is_in_range)
            && self.steps.windows(2).all(is_in_order);
        if is_sound { Ok(()) } else { Err(Refusal::InvalidPolicy) }
    }

    /// The percentage retained now, or a refusal if it's too late. Days are calendar days in Seoul.
    pub fn fee_percent(&self, starts_at: Timestamp, now: Timestamp) -> Result<u32, Refusal> {
        if starts_at <= now {
            return Err(Refusal::CancelClosed);
        }
        if self.steps.is_empty() {
            return Ok(0);
        }
        let days_left = starts_at.seoul_day_number() - now.seoul_day_number();
        // Before the first step canceling is free of charge.
        let reached = |step: &&FeeStep| days_left <= i64::from(step.days_before);
        let is_over = self.steps.last().is_some_and(|last| days_left < i64::from(last.days_before));
        if is_over {
            return Err(Refusal::CancelClosed);
        }
        Ok(self.steps.iter().rev().find(reached).map_or(0, |step| step.fee_percent))
    }
}

/// The refund for some seats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quote {
    pub refund: Won,
    pub fee: Won,
}

/// The fee is computed per seat and rounded in the fan's favour.
pub fn quote(prices: impl IntoIterator<Item = Won>, fee_percent: u32) -> Quote {
    let percent = i64::from(fee_percent.min(FEE_PERCENT_MAX));
    let (mut refund, mut fee) = (0, 0);
    for price in prices {
        let kept = price.get() * percent / 100;
        fee += kept;
        refund += price.get() - kept;
    }
    let won = |amount| Won::new(amount).expect("ten seats are far below the maximum");
    Quote { refund: won(refund), fee: won(fee) }
}

/// What was paid for one seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeatPaid {
    pub price: Won,
    /// Its booking fee.
    pub fee: Won,
}

/// Which fees go back with a cancellation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeesBack {
    pub booking: bool,
    pub order: bool,
}

impl FeesBack {
    pub const ALL: FeesBack = FeesBack { booking: true, order: true };
    pub const NONE: FeesBack = FeesBack { booking: false, order: false };
}

/// The terms of one cancellation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CancelTerms {
    /// What is kept of the price of each ticket.
    pub fee_percent: u32,
    pub fees_back: FeesBack,
}

/// A cancellation of some seats of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartQuote {
    /// What goes back and what is kept.
    pub quote: Quote,
    /// By how much the order becomes smaller: the sum of the two.
    pub cost: Won,
    /// What is left of the order's fee.
    pub order_fee: Won,
}

/// Quotes the cancellation of `given` of an order that keeps `left`. The order's fee belongs to the
/// tickets that cost something: it is settled with the last of them.
pub fn quote_part(
    given: &[SeatPaid],
    left: &[SeatPaid],
    order_fee: Won,
    terms: CancelTerms,
) -> PartQuote {
    let tickets = quote(given.iter().map(|seat| seat.price), terms.fee_percent);
    let is_settled = left.iter().all(|seat| seat.price.is_zero());
    let booking_fees = given.iter().map(|seat| seat.fee.get()).sum();
    let settled = if is_settled { order_fee } else { Won::ZERO };
    let (mut refund, mut fee) = (tickets.refund.get(), tickets.fee.get());
    let parts = [(booking_fees, terms.fees_back.booking), (settled.get(), terms.fees_back.order)];
    for (amount, goes_back) in parts {
        *(if goes_back { &mut refund } else { &mut fee }) += amount;
    }
    let won = |amount| Won::new(amount).expect("an order is far below the maximum");
    PartQuote {
        quote: Quote { refund: won(refund), fee: won(fee) },
        cost: won(refund + fee),
        order_fee: if is_settled { Won::ZERO } else { order_fee },
    }
}

/// What the gateway's records say about the next refund of a payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefundStep {
    /// The records show it.
    Made,
    /// The records don't show it. `book_before` is the refunded amount that they show, to be stored
    /// before anything is sent.
    Send { book_before: Won },
    /// The records are inconsistent: nothing may be sent.
    Wait { why: &'static str },
}

/// A refund in terms of the gateway's records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InBook {
    pub amount: Won,
    /// What this gateway refunded of the payment before, by our own records.
    pub refunded_before: Won,
    /// What the gateway's records showed when this refund was first sent; `None` if it never was.
    pub book_before: Option<Won>,
}

impl InBook {
    /// Whether to send it. Refunds of one payment are made one after the other, so if the records
    /// have changed by exactly this amount, this refund was made; any other change comes from
    /// elsewhere. If everything charged has been refunded, there is nothing left to send.
    pub fn step(&self, captured: Won, book: Won) -> RefundStep {
        if !captured.is_zero() && captured == book {
            return RefundStep::Made;
        }
        let Some(before) = self.book_before else {
            return match book < self.refunded_before {
                true => RefundStep::Wait {
                    why: "the gateway's records do not show the earlier refunds",
                },
                false => RefundStep::Send { book_before: book },
            };
        };
        if book == before {
            return RefundStep::Send { book_before: before };
        }
        match before.checked_add(self.amount) == Some(book) {
            true => RefundStep::Made,
            false => RefundStep::Wait { why: "the gateway's records changed by another amount" },
        }
    }
}

/// Where a refund goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "UPPERCASE")]
pub enum RefundTo {
    /// The original payment method.
    #[default]
    Original,
    /// The fan's wallet, immediately.
    Wallet,
}

impl RefundTo {
    pub const fn as_str(self) -> &'static str {
        match self {
            RefundTo::Original => "ORIGINAL",
            RefundTo::Wallet => "WALLET",
        }
    }

    pub fn parse(text: &str) -> Option<RefundTo> {
        [RefundTo::Original, RefundTo::Wallet].into_iter().find(|to| to.as_str() == text)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "UPPERCASE")]
pub enum RefundStatus {
    /// Promised: retried until it's made.
    Due,
    Refunded,
}

impl RefundStatus {
    pub const fn as_str(self) -> &'static str {
        match self {
            RefundStatus::Due => "DUE",
            RefundStatus::Refunded => "REFUNDED",
        }
    }

    pub fn parse(text: &str) -> Option<RefundStatus> {
        [RefundStatus::Due, RefundStatus::Refunded]
            .into_iter()
            .find(|status| status.as_str() == text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::time::Duration;

    const DAY: Duration = Duration::from_secs(86_400);

    fn policy(steps: &[(u32, u32)]) -> RefundPolicy {
        let step = |&(days_before, fee_percent): &(u32, u32)| FeeStep { days_before, fee_percent };
        RefundPolicy { steps: steps.iter().map(step).collect() }
    }

    /// 2026-03-31 19:00 in Seoul.
    fn show() -> Timestamp {
        "2026-03-31T10:00:00Z".parse().unwrap()
    }

    #[test]
    fn the_fee_grows_as_the_show_comes_closer() {
        let policy = policy(&[(9, 10), (6, 20), (2, 30), (1, 30)]);
        let ask = |days: u32| policy.fee_percent(show(), show().minus(DAY * days));
        assert_eq!(ask(30), Ok(0));
        assert_eq!(ask(10), Ok(0));
        assert_eq!(ask(9), Ok(10));
        assert_eq!(ask(7), Ok(10));
        assert_eq!(ask(6), Ok(20));
        assert_eq!(ask(2), Ok(30));
        assert_eq!(ask(1), Ok(30));
        let on_the_day = show().minus(Duration::from_secs(60));
        assert_eq!(policy.fee_percent(show(), on_the_day), Err(Refusal::CancelClosed));
    }

    #[test]
    fn a_day_ends_at_midnight_in_seoul() {
        let policy = policy(&[(1, 30)]);
        let midnight: Timestamp = "2026-03-30T15:00:00Z".parse().unwrap();
        let before = midnight.minus(Duration::from_millis(1));
        assert_eq!(policy.fee_percent(show(), before), Ok(30));
        assert_eq!(policy.fee_percent(show(), midnight), Err(Refusal::CancelClosed));
    }

    #[test]
    fn without_steps_all_goes_back_until_the_show_begins() {
        let free = RefundPolicy::default();
        assert_eq!(free.fee_percent(show(), show().minus(Duration::from_millis(1))), Ok(0));
        assert_eq!(free.fee_percent(show(), show()), Err(Refusal::CancelClosed));
    }

    #[test]
    fn a_policy_that_rewards_waiting_is_refused() {
        assert_eq!(policy(&[(9, 10), (1, 90)]).check(), Ok(()));
        for odd in [&[(1, 10), (9, 20)][..], &[(9, 20), (1, 10)], &[(9, 10), (9, 20)], &[(9, 91)]] {
            assert_eq!(policy(odd).check(), Err(Refusal::InvalidPolicy), "{odd:?}");
        }
    }

    #[test]
    fn a_refund_is_known_by_how_far_the_book_moved() {
        let won = |amount| Won::new(amount).unwrap();
        let refund = |book_before: Option<i64>| InBook {
            amount: won(30),
            refunded_before: won(20),
            book_before: book_before.map(won),
        };
        let send = |before| RefundStep::Send { book_before: won(before) };
        // Never sent: whatever the records show isn't this refund.
        assert_eq!(refund(None).step(won(200), won(20)), send(20));
        assert_eq!(
            refund(None).step(won(200), won(50)),
            send(50),
            "30 were refunded by hand at the gateway"
        );
        assert!(
            matches!(refund(None).step(won(200), won(0)), RefundStep::Wait { .. }),
            "records that lag"
        );
        // Sent, and the answer was lost.
        assert_eq!(refund(Some(50)).step(won(200), won(50)), send(50));
        assert_eq!(refund(Some(50)).step(won(200), won(80)), RefundStep::Made);
        assert_eq!(refund(None).step(won(50), won(50)), RefundStep::Made, "all went back");
        assert!(matches!(refund(Some(50)).step(won(0), won(0)), RefundStep::Wait { .. }));
        for odd in [0, 79, 81, 110] {
            let step = refund(Some(50)).step(won(200), won(odd));
            assert!(matches!(step, RefundStep::Wait { .. }), "{odd}: {step:?}");
        }
    }

    #[test]
    fn the_fee_of_an_order_is_settled_with_its_last_paid_ticket() {
        let won = |amount| Won::new(amount).unwrap();
        let paid = |price, fee| SeatPaid { price: won(price), fee: won(fee) };
        let terms = CancelTerms { fee_percent: 10, fees_back: FeesBack::NONE };
        let (dear, free) = (paid(10_000, 500), paid(0, 0));
        let first = quote_part(&[dear], &[dear, free], won(700), terms);
        assert_eq!(first.quote, Quote { refund: won(9_000), fee: won(1_500) });
        assert_eq!((first.cost, first.order_fee), (won(10_500), won(700)));
        let second = quote_part(&[dear], &[free], won(700), terms);
        assert_eq!(second.quote, Quote { refund: won(9_000), fee: won(2_200) });
        assert_eq!((second.cost, second.order_fee), (won(11_200), Won::ZERO));
        let last = quote_part(&[free], &[], Won::ZERO, terms);
        assert_eq!((last.quote.refund, last.cost), (Won::ZERO, Won::ZERO));
        let all = CancelTerms { fee_percent: 0, fees_back: FeesBack::ALL };
        let off = quote_part(&[dear, free], &[], won(700), all);
        assert_eq!(off.quote, Quote { refund: won(11_200), fee: Won::ZERO });
    }

    proptest! {
        /// Seats that are canceled one by one give back, and keep, all that the order cost.
        #[test]
        fn no_won_is_lost_however_an_order_is_canceled(
            seats in prop::collection::vec((0i64..9_000_000, 0i64..5_000), 1..=10),
            order_fee in 0i64..5_000, percent in 0u32..=90, fees in 0u8..4,
        ) {
            let won = |amount| Won::new(amount).unwrap();
            let paid: Vec<SeatPaid> = seats.iter().map(|&(price, fee)| {
                SeatPaid { price: won(price), fee: won(if price == 0 { 0 } else { fee }) }
            }).collect();
            let is_free = paid.iter().all(|seat| seat.price.is_zero());
            let mut order_fee = won(if is_free { 0 } else { order_fee });
            let cost: i64 = order_fee.get()
                + paid.iter().map(|seat| seat.price.get() + seat.fee.get()).sum::<i64>();
            let fees_back = FeesBack { booking: fees & 1 == 1, order: fees & 2 == 2 };
            let terms = CancelTerms { fee_percent: percent, fees_back };
            let mut moved = 0;
            for at in 0..paid.len() {
                let part = quote_part(&paid[at..=at], &paid[at + 1..], order_fee, terms);
                prop_assert_eq!(part.quote.refund.get() + part.quote.fee.get(), part.cost.get());
                // What is kept is always recorded with a refund.
                prop_assert!(part.quote.fee.is_zero() || !part.quote.refund.is_zero());
                order_fee = part.order_fee;
                moved += part.cost.get();
            }
            prop_assert_eq!(moved, cost);
        }

        #[test]
        fn refund_and_fee_are_the_price_and_something_always_goes_back(
            prices in prop::collection::vec(1i64..10_000_000, 1..5), percent in 0u32..=90,
        ) {
            let sum: i64 = prices.iter().sum();
            let quote = quote(prices.into_iter().map(|it| Won::new(it).unwrap()), percent);
            prop_assert_eq!(quote.refund.get() + quote.fee.get(), sum);
            prop_assert!(!quote.refund.is_zero());
        }
    }
}
