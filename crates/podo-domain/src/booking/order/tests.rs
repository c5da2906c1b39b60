//! Prices by hand, and properties that no order may break.

use super::options::{Discount, Fee, FeeRefund, Fees, PriceOptions, TicketTypeInput, choose_types};
use super::promotions::{Promotion, PromotionPer, clean_code};
use super::{ChosenSeat, LineKind, LineSeat, Order, SeatPrice, lines, price, split};
use crate::{Currency, PromotionId, Refusal, Timestamp, Won};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

const KRW: Currency = Currency::Krw;

fn won(amount: i64) -> Won {
    Won::new(amount).unwrap()
}

fn prices() -> BTreeMap<String, Won> {
    BTreeMap::from([("R".to_owned(), won(100_000)), ("VIP".to_owned(), won(150_000))])
}

fn ask(name: &str, discount: Discount) -> TicketTypeInput {
    TicketTypeInput {
        id: None,
        name: name.to_owned(),
        name_en: name.to_owned(),
        grades: None,
        discount,
        per_order: None,
        proof: None,
        proof_en: None,
    }
}

fn types(asked: Vec<TicketTypeInput>) -> PriceOptions {
    PriceOptions::default().change(asked, Fees::default(), &prices(), KRW).unwrap()
}

fn promotion(discount: Discount, per: PromotionPer) -> Promotion {
    Promotion {
        id: PromotionId::new(Uuid::nil()),
        code: "GRAPES".to_owned(),
        discount,
        per,
        grades: None,
        amount_min: Won::ZERO,
        starts_at: None,
        ends_at: None,
        uses_max: 1,
        uses_per_person: None,
    }
}

fn grades(names: &[&str]) -> Option<BTreeSet<String>> {
    Some(names.iter().map(|name| (*name).to_owned()).collect())
}

fn full(grade: &str, list: i64) -> ChosenSeat<'_> {
    ChosenSeat { grade, list: won(list), ticket_type: None }
}

fn fees(booking: i64, order: i64) -> Fees {
    let fee = |amount| Some(Fee { amount: won(amount), refund: FeeRefund::Always });
    Fees { booking: fee(booking), order: fee(order) }
}

fn sum_of_lines(order: &Order) -> i64 {
    let seat = |price: &SeatPrice| LineSeat { grade: "R", price: *price, ticket_type: None };
    let seats: Vec<LineSeat<'_>> = order.seats.iter().map(seat).collect();
    lines(&seats, Some("GRAPES"), order.order_fee).iter().map(|line| line.amount).sum()
}

#[test]
fn an_order_without_options_costs_its_seats() {
    let order = price(&[full("R", 100_000), full("VIP", 150_000)], None, &Fees::default(), KRW);
    assert_eq!(order.unwrap().total(), Some(won(250_000)));
}

#[test]
fn a_type_a_code_and_fees_add_up_line_by_line() {
    let options = types(vec![ask("child", Discount::Percent(30))]);
    let child = options.ticket_type(1);
    let seats = [full("VIP", 150_000), ChosenSeat { ticket_type: child, ..full("R", 100_000) }];
    let code = promotion(Discount::Percent(10), PromotionPer::Order);
    let order = price(&seats, Some(&code), &fees(2_000, 3_000), KRW).unwrap();
    assert_eq!(order.total(), Some(won(150_000 + 70_000 - 22_000 + 4_000 + 3_000)));
    let shares: Vec<i64> = order.seats.iter().map(|seat| seat.code_off.get()).collect();
    assert_eq!(shares, [15_000, 7_000], "the code's discount is divided by price");
    let mark = child.map(super::options::TicketType::mark);
    let shown = [
        LineSeat { grade: "VIP", price: order.seats[0], ticket_type: None },
        LineSeat { grade: "R", price: order.seats[1], ticket_type: mark.as_ref() },
    ];
    let lines = lines(&shown, Some("GRAPES"), order.order_fee);
    let amounts: Vec<_> = lines.iter().map(|line| (line.kind, line.amount)).collect();
    let expected = [
        (LineKind::Ticket, 150_000),
        (LineKind::Ticket, 100_000),
        (LineKind::TypeDiscount, -30_000),
        (LineKind::CodeDiscount, -22_000),
        (LineKind::BookingFee, 4_000),
        (LineKind::OrderFee, 3_000),
    ];
    assert_eq!(amounts, expected);
    assert_eq!((lines[2].name.as_deref(), lines[4].seats), (Some("child"), Some(2)));
}

#[test]
fn a_fixed_price_never_makes_a_seat_dearer() {
    assert_eq!(Discount::Price(won(40_000)).of(won(100_000)), won(60_000));
    assert_eq!(Discount::Price(won(40_000)).of(won(30_000)), Won::ZERO);
}

#[test]
fn a_free_order_has_no_fees() {
    let code = promotion(Discount::Percent(100), PromotionPer::Ticket);
    let order = price(&[full("R", 100_000)], Some(&code), &fees(2_000, 3_000), KRW).unwrap();
    assert_eq!(order.total(), Some(Won::ZERO));
    let code = Promotion { grades: grades(&["R"]), ..code };
    let seats = [full("R", 100_000), full("VIP", 150_000)];
    let order = price(&seats, Some(&code), &fees(2_000, 3_000), KRW).unwrap();
    assert_eq!(order.total(), Some(won(155_000)), "one ticket is free, and so is its booking fee");
}

#[test]
fn a_code_says_why_it_does_not_apply() {
    let seats = [full("R", 100_000)];
    let code = promotion(Discount::Won(won(5_000)), PromotionPer::Order);
    let ask = |code: &Promotion| price(&seats, Some(code), &Fees::default(), KRW);
    let other = Promotion { grades: grades(&["VIP"]), ..code.clone() };
    assert_eq!(ask(&other), Err(Refusal::PromotionOtherGrade));
    let amount_min = won(100_001);
    let dear = Promotion { amount_min, ..code.clone() };
    assert_eq!(ask(&dear), Err(Refusal::PromotionMinimum { amount: amount_min }));
    let at = Timestamp::from_ms;
    let open = Promotion { starts_at: Some(at(10)), ends_at: Some(at(20)), ..code };
    let early = Refusal::PromotionNotBegun { starts_at: at(10) };
    assert_eq!(open.check_open(at(9)), Err(early));
    assert_eq!(open.check_open(at(10)), Ok(()));
    assert_eq!(open.check_open(at(20)), Err(Refusal::PromotionOver));
}

#[test]
fn a_chosen_type_must_exist_fit_the_grade_and_keep_its_limit() {
    let mut child = ask("child", Discount::Percent(50));
    child.per_order = Some(1);
    let mut vip = ask("patron", Discount::Percent(10));
    vip.grades = grades(&["VIP"]);
    let options = types(vec![child, vip]);
    let choose = |chosen: &[(&str, Option<u32>)]| choose_types(&options, chosen).map(|it| it.len());
    let field = |at: usize| format!("seats[{at}].ticketTypeId");
    assert_eq!(choose(&[("R", None), ("R", Some(1)), ("VIP", Some(2))]), Ok(3));
    let unknown = Refusal::TicketTypeUnknown { field: field(1) };
    assert_eq!(choose(&[("R", None), ("R", Some(3))]), Err(unknown));
    let other = Refusal::TicketTypeOtherGrade { field: field(0) };
    assert_eq!(choose(&[("R", Some(2))]), Err(other));
    let many = Refusal::TicketTypeLimit { field: field(1), max: 1 };
    assert_eq!(choose(&[("R", Some(1)), ("R", Some(1))]), Err(many));
}

#[test]
fn bad_options_are_refused_by_field() {
    let change = |asked: Vec<TicketTypeInput>, fees| {
        PriceOptions::default().change(asked, fees, &prices(), KRW)
    };
    let refused = |ask: TicketTypeInput| match change(vec![ask], Fees::default()) {
        Err(Refusal::InvalidPriceOptions { field }) => field,
        other => panic!("{other:?}"),
    };
    let base = || ask("child", Discount::Percent(10));
    assert_eq!(refused(ask("x", Discount::Percent(0))), "ticketTypes[0].percent");
    assert_eq!(refused(ask("x", Discount::Percent(101))), "ticketTypes[0].percent");
    assert_eq!(refused(ask("x", Discount::Won(Won::ZERO))), "ticketTypes[0].won");
    assert_eq!(refused(ask("x", Discount::Price(won(100_001)))), "ticketTypes[0].price");
    let proof = Some("복지카드".to_owned());
    assert_eq!(refused(TicketTypeInput { proof, ..base() }), "ticketTypes[0].proofEn");
    assert_eq!(
        refused(TicketTypeInput { grades: grades(&["S"]), ..base() }),
        "ticketTypes[0].grades"
    );
    assert_eq!(refused(TicketTypeInput { grades: grades(&[]), ..base() }), "ticketTypes[0].grades");
    assert_eq!(
        refused(TicketTypeInput { per_order: Some(11), ..base() }),
        "ticketTypes[0].perOrder"
    );
    assert_eq!(refused(TicketTypeInput { id: Some(7), ..base() }), "ticketTypes[0].id");
    let twice = change(vec![base(), base()], Fees::default());
    let field = "ticketTypes[1].name".to_owned();
    assert_eq!(twice, Err(Refusal::InvalidPriceOptions { field }));
    let field = "orderFee.amount".to_owned();
    assert_eq!(change(vec![], fees(1, 100_001)), Err(Refusal::InvalidPriceOptions { field }));
}

#[test]
fn the_number_of_a_removed_type_is_not_used_again() {
    let before =
        types(vec![ask("adult", Discount::Percent(1)), ask("child", Discount::Percent(2))]);
    let kept = TicketTypeInput { id: Some(1), ..ask("adult", Discount::Percent(1)) };
    let without = before.change(vec![kept.clone()], Fees::default(), &prices(), KRW).unwrap();
    let asked = vec![kept, ask("senior", Discount::Percent(3))];
    let after = without.change(asked, Fees::default(), &prices(), KRW).unwrap();
    assert_eq!(after.ticket_types.iter().map(|it| it.id).collect::<Vec<_>>(), [1, 3]);
}

#[test]
fn a_bad_promotion_is_refused_by_field() {
    let base = || promotion(Discount::Percent(10), PromotionPer::Order);
    let refused = |promotion: Promotion| match promotion.check(&prices(), KRW) {
        Err(Refusal::InvalidPromotion { field }) => field,
        other => panic!("{other:?}"),
    };
    assert_eq!(base().check(&prices(), KRW), Ok(()));
    assert_eq!(refused(Promotion { discount: Discount::Percent(101), ..base() }), "percent");
    assert_eq!(refused(Promotion { discount: Discount::Price(won(1)), ..base() }), "price");
    assert_eq!(refused(Promotion { grades: grades(&["S"]), ..base() }), "grades");
    assert_eq!(refused(Promotion { uses_max: 0, ..base() }), "usesMax");
    assert_eq!(refused(Promotion { uses_per_person: Some(2), ..base() }), "usesPerPerson");
    let at = |ms| Some(Timestamp::from_ms(ms));
    assert_eq!(refused(Promotion { starts_at: at(5), ends_at: at(5), ..base() }), "endsAt");
}

#[test]
fn a_code_is_the_same_however_it_is_typed() {
    assert_eq!(clean_code(" gra-pes 10 "), Some("GRAPES10".to_owned()));
    assert_eq!(clean_code("ab"), None);
    assert_eq!(clean_code("포도포도"), None);
}

#[test]
fn the_won_that_do_not_divide_go_to_the_largest_remainders() {
    assert_eq!(split(won(100), &[won(1), won(1), won(1)]), [won(34), won(33), won(33)]);
    assert_eq!(split(won(10), &[won(5), won(0), won(6)]), [won(5), won(0), won(5)]);
}

fn discounts(max: i64) -> impl Strategy<Value = Discount> {
    prop_oneof![
        (1u32..=100).prop_map(Discount::Percent),
        (1..max).prop_map(|amount| Discount::Won(won(amount))),
        (0..max).prop_map(|amount| Discount::Price(won(amount))),
    ]
}

fn codes() -> impl Strategy<Value = Option<Promotion>> {
    let discount = prop_oneof![
        (1u32..=100).prop_map(Discount::Percent),
        (1i64..20_000_000).prop_map(|amount| Discount::Won(won(amount))),
    ];
    let per = prop_oneof![Just(PromotionPer::Order), Just(PromotionPer::Ticket)];
    let of_grade = prop_oneof![Just(None), Just(grades(&["VIP"]))];
    let code = (discount, per, of_grade)
        .prop_map(|(discount, per, grades)| Promotion { grades, ..promotion(discount, per) });
    prop::option::of(code)
}

proptest! {
    /// Whatever the organiser offers, each seat costs between nothing and its price, the lines add
    /// up to the total, and a free order has no fee.
    #[test]
    fn every_won_of_an_order_is_accounted_for(
        seats in prop::collection::vec((1i64..9_000_000, prop::option::of(discounts(9_000_000))), 1..=10),
        code in codes(), booking in 0i64..=5_000, order_fee in 0i64..=5_000,
    ) {
        let types: Vec<_> = seats.iter().map(|(_, discount)| discount.map(|discount| {
            let ask = ask("type", discount);
            super::options::TicketType {
                id: 1, name: ask.name, name_en: ask.name_en, grades: None, discount,
                per_order: None, proof: None, proof_en: None,
            }
        })).collect();
        let chosen: Vec<ChosenSeat<'_>> = seats.iter().zip(&types).map(|((list, _), it)| {
            ChosenSeat { grade: "VIP", list: won(*list), ticket_type: it.as_ref() }
        }).collect();
        let order = price(&chosen, code.as_ref(), &fees(booking, order_fee), KRW).unwrap();
        for seat in &order.seats {
            prop_assert!(seat.type_off.get() + seat.code_off.get() <= seat.list.get());
            prop_assert_eq!(seat.ticket().is_zero() && !seat.fee.is_zero(), false);
        }
        let total = order.total().unwrap().get();
        prop_assert_eq!(sum_of_lines(&order), total);
        if order.seats.iter().all(|seat| seat.ticket().is_zero()) {
            prop_assert_eq!(total, 0);
        }
    }

    #[test]
    fn a_divided_discount_loses_no_won_and_exceeds_no_seat(
        weights in prop::collection::vec(0i64..100_000_000, 1..=10), part in 0.0f64..=1.0,
    ) {
        let sum: i64 = weights.iter().sum();
        #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "any amount will do")]
        let amount = ((sum as f64 * part) as i64).min(sum);
        let weights: Vec<Won> = weights.into_iter().map(won).collect();
        let shares = split(won(amount), &weights);
        prop_assert_eq!(shares.iter().map(|share| share.get()).sum::<i64>(), amount);
        for (share, weight) in shares.iter().zip(&weights) {
            prop_assert!(share <= weight);
        }
    }
}
