//! Refunds: how a cancellation divides what was paid, and where the rest goes.

use crate::Won;
use crate::payments::refund_policy::Retained;
use serde::{Deserialize, Serialize};

/// The refund for some seats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quote {
    pub refund: Won,
    pub fee: Won,
}

/// The fee is computed per seat and rounded in the fan's favour.
pub fn quote(prices: impl IntoIterator<Item = Won>, retained: Retained) -> Quote {
    let (mut refund, mut fee) = (0, 0);
    for price in prices {
        let kept = retained.of(price).get();
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
    pub retained: Retained,
    pub fees_back: FeesBack,
}

impl CancelTerms {
    /// Everything goes back, fees too.
    pub const FREE: CancelTerms =
        CancelTerms { retained: Retained::NOTHING, fees_back: FeesBack::ALL };
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
    let tickets = quote(given.iter().map(|seat| seat.price), terms.retained);
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
        let terms = CancelTerms { retained: Retained::percent(10), fees_back: FeesBack::NONE };
        let (dear, free) = (paid(10_000, 500), paid(0, 0));
        let first = quote_part(&[dear], &[dear, free], won(700), terms);
        assert_eq!(first.quote, Quote { refund: won(9_000), fee: won(1_500) });
        assert_eq!((first.cost, first.order_fee), (won(10_500), won(700)));
        let second = quote_part(&[dear], &[free], won(700), terms);
        assert_eq!(second.quote, Quote { refund: won(9_000), fee: won(2_200) });
        assert_eq!((second.cost, second.order_fee), (won(11_200), Won::ZERO));
        let last = quote_part(&[free], &[], Won::ZERO, terms);
        assert_eq!((last.quote.refund, last.cost), (Won::ZERO, Won::ZERO));
        let off = quote_part(&[dear, free], &[], won(700), CancelTerms::FREE);
        assert_eq!(off.quote, Quote { refund: won(11_200), fee: Won::ZERO });
    }

    proptest! {
        /// Seats that are canceled one by one give back, and keep, all that the order cost.
        #[test]
        fn no_won_is_lost_however_an_order_is_canceled(
            seats in prop::collection::vec((0i64..9_000_000, 0i64..5_000), 1..=10),
            order_fee in 0i64..5_000, percent in 0u32..=90, fees in 0u8..4,
            fixed in prop::option::of(1i64..20_000),
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
            let retained = Retained { percent, amount: fixed.map(won) };
            let terms = CancelTerms { retained, fees_back };
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
            let prices = prices.into_iter().map(|it| Won::new(it).unwrap());
            let quote = quote(prices, Retained::percent(percent));
            prop_assert_eq!(quote.refund.get() + quote.fee.get(), sum);
            prop_assert!(!quote.refund.is_zero());
        }
    }
}
