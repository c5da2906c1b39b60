//! Ticket types, promotion codes and fees: what an order costs, and what goes back.

use crate::world::{FAR, Fan, NEAR, Plan, World, at, fresh, refusal, won};
use futures::future::join_all;
use podo_adapters::sql::Guard;
use podo_app::booking::port::reservations::{
    ChooseOrder, ReleaseSeats, ReservationView, Reservations,
};
use podo_app::catalog::port::Catalog;
use podo_app::catalog::pricing_port::{
    AddPromotion, ChangePromotion, Pricing, PromotionView, RemovePromotion, SetOptions,
};
use podo_app::payments::port::payments::{
    CancelPayment, Canceled, Capture, PayFromWallet, Payments, Sold,
};
use podo_app::payments::port::refunds::{PreviewRefund, Refunds};
use podo_app::payments::port::wallets::Wallets;
use podo_app::tickets::port::Tickets;
use podo_app::{Error, Result};
use podo_domain::booking::order::LineKind;
use podo_domain::booking::order::options::{Discount, Fee, FeeRefund, Fees, TicketTypeInput};
use podo_domain::booking::order::promotions::{Promotion, PromotionPer};
use podo_domain::booking::reservations::ReservationStatus;
use podo_domain::messaging::messages::MessageKind;
use podo_domain::payments::refunds::RefundTo;
use podo_domain::payments::{PaymentMethod, PaymentStatus};
use podo_domain::{PaymentId, PromotionId, RefundId, Refusal, ReservationId, Timestamp};

const BOOKING_FEE: i64 = 2_000;
const ORDER_FEE: i64 = 3_000;

/// A child's ticket costs half.
fn child() -> TicketTypeInput {
    TicketTypeInput {
        id: None,
        name: "어린이".into(),
        name_en: "Child".into(),
        grades: None,
        discount: Discount::Percent(50),
        per_order: Some(2),
        proof: Some("학생증".into()),
        proof_en: Some("Student card".into()),
    }
}

fn fees(refund: FeeRefund) -> Fees {
    let fee = |amount| Some(Fee { amount: won(amount), refund });
    Fees { booking: fee(BOOKING_FEE), order: fee(ORDER_FEE) }
}

pub(crate) async fn set_options(world: &World, ticket_types: Vec<TicketTypeInput>, fees: Fees) {
    let (actor, schedule) = (world.admin, world.schedule);
    let command = SetOptions { actor, schedule, ticket_types, fees, now: at(-100) };
    world.store.set_price_options(command).await.unwrap();
}

fn ten_percent(world: &World) -> Promotion {
    Promotion {
        id: PromotionId::new(world.id()),
        code: "GRAPES".into(),
        discount: Discount::Percent(10),
        per: PromotionPer::Order,
        grades: None,
        amount_min: won(0),
        starts_at: None,
        ends_at: None,
        uses_max: 1,
        uses_per_person: None,
    }
}

pub(crate) async fn add(world: &World, promotion: Promotion) -> Result<PromotionView> {
    let (actor, schedule) = (world.admin, world.schedule);
    world.store.add_promotion(AddPromotion { actor, schedule, promotion, now: at(-90) }).await
}

async fn n_used(world: &World) -> u32 {
    world.store.promotions_of(world.schedule).await.unwrap()[0].used
}

pub(crate) async fn choose(
    world: &World,
    (fan, reservation): (&Fan, ReservationId),
    types: &[(u32, Option<u32>)],
    code: Option<&str>,
    now: Timestamp,
) -> Result<ReservationView> {
    let types = types.iter().map(|(seat, id)| (world.schedule.seat(*seat), *id)).collect();
    let code = code.map(str::to_owned);
    let command = ChooseOrder { reservation, user: fan.id, types, code, now };
    world.store.choose_order(command).await
}

pub(crate) async fn pay(
    world: &World,
    fan: &Fan,
    view: &ReservationView,
    now: Timestamp,
) -> Result<Sold> {
    let command = PayFromWallet {
        key: world.key(fan, "payment/wallet"),
        payment: PaymentId::new(world.id()),
        reservation: view.id,
        user: fan.id,
        amount: view.amount,
        now,
    };
    world.store.pay_from_wallet(command).await.map(|sold| *fresh(sold))
}

pub(crate) async fn cancel(
    world: &World,
    fan: &Fan,
    sold: &Sold,
    seats: &[u32],
    now: Timestamp,
) -> Canceled {
    let command = CancelPayment {
        key: world.key(fan, "payment/cancel"),
        payment: sold.confirmed.payment_id,
        user: fan.id,
        refund: RefundId::new(world.id()),
        reason: "CHANGED_MIND".into(),
        seats: seats.iter().map(|seat| world.schedule.seat(*seat)).collect(),
        to: RefundTo::Original,
        now,
    };
    fresh(world.store.cancel_payment(command).await.unwrap()).0
}

/// What the gate asks for with each ticket.
async fn proofs(world: &World, fan: &Fan, id: ReservationId) -> Vec<Option<String>> {
    let tickets = world.store.tickets_in(id, fan.id).await.unwrap();
    tickets.into_iter().map(|it| it.ticket_type.and_then(|mark| mark.proof)).collect()
}

fn sum_of_lines(view: &ReservationView) -> i64 {
    view.lines.iter().map(|line| line.amount).sum()
}

#[tokio::test]
async fn fees_are_part_of_the_price_from_the_first_hold_on() {
    let world = World::new().await;
    set_options(&world, Vec::new(), fees(FeeRefund::Always)).await;
    let fan = world.fan().await;
    let held = world.hold(&fan, &[0, 10], at(1)).await.unwrap();
    assert_eq!(held.amount, won(NEAR + FAR + 2 * BOOKING_FEE + ORDER_FEE));
    let kinds: Vec<LineKind> = held.lines.iter().map(|line| line.kind).collect();
    let expected = [LineKind::Ticket, LineKind::Ticket, LineKind::BookingFee, LineKind::OrderFee];
    assert_eq!(kinds, expected);
    let view = world.store.reservation(held.reservation_id, fan.id).await.unwrap().unwrap();
    assert_eq!(view.lines, held.lines);
    world.finish().await;
}

#[tokio::test]
async fn a_type_and_a_code_change_the_amount_until_money_moves() {
    let world = World::new().await;
    set_options(&world, vec![child()], fees(FeeRefund::Never)).await;
    add(&world, ten_percent(&world)).await.unwrap();
    let fan = world.fan().await;
    world.charge(&fan, 1_000_000).await;
    let held = world.hold(&fan, &[0, 10], at(1)).await.unwrap();
    let id = held.reservation_id;
    let ready = world.request(&fan, id, PaymentMethod::Card, at(2)).await.unwrap();
    let types = [(10, Some(1))];
    let view = choose(&world, (&fan, id), &types, Some("GRAPES"), at(3)).await.unwrap();
    let tickets = NEAR + FAR / 2;
    assert_eq!(view.amount.get(), tickets - tickets / 10 + 2 * BOOKING_FEE + ORDER_FEE);
    assert_eq!(sum_of_lines(&view), view.amount.get());
    assert_eq!(view.promotion_code.as_deref(), Some("GRAPES"));
    let mark = view.seats[1].ticket_type().unwrap();
    assert_eq!((mark.name.as_str(), mark.proof.as_deref()), ("어린이", Some("학생증")));
    let old = world.confirm(&fan, &ready, at(4)).await;
    assert_eq!(refusal(old), Refusal::PaymentOver, "it was prepared for the old amount");
    world.check_invariants(at(4)).await;

    let same = choose(&world, (&fan, id), &types, Some("GRAPES"), at(5)).await.unwrap();
    assert_eq!(same.amount, view.amount);
    let kinds = world.told(id.uuid()).await;
    let expected = [
        MessageKind::ReservationHeld,
        MessageKind::ReservationExtended,
        MessageKind::ReservationPriced,
    ];
    assert_eq!(kinds, expected, "the same choice again changes nothing");

    let sold = pay(&world, &fan, &view, at(6)).await.unwrap();
    assert_eq!(n_used(&world).await, 1);
    let late = choose(&world, (&fan, id), &[], None, at(7)).await;
    assert_eq!(refusal(late), Refusal::AlreadyPaid);
    let proofs = proofs(&world, &fan, id).await;
    assert_eq!(proofs, [None, Some("학생증".to_owned())], "on the tickets");
    let part = cancel(&world, &fan, &sold, &[0], at(8)).await;
    assert_eq!(part.refund_amount, won(NEAR - NEAR / 10), "the booking fee is kept");
    assert_eq!(part.fee, won(BOOKING_FEE));
    assert_eq!(n_used(&world).await, 1, "the order still has the code");
    let rest = cancel(&world, &fan, &sold, &[], at(9)).await;
    assert_eq!(rest.refund_amount, won(FAR / 2 - FAR / 20));
    assert_eq!(rest.fee, won(BOOKING_FEE + ORDER_FEE));
    assert_eq!(n_used(&world).await, 0);
    world.finish().await;
}

#[tokio::test]
async fn a_code_comes_back_from_an_order_that_ends_without_a_ticket() {
    let world = World::new().await;
    add(&world, ten_percent(&world)).await.unwrap();
    let (fan, other) = (world.fan().await, world.fan().await);
    let first = world.hold(&fan, &[0], at(1)).await.unwrap().reservation_id;
    let second = world.hold(&other, &[1], at(1)).await.unwrap().reservation_id;
    choose(&world, (&fan, first), &[], Some("GRAPES"), at(2)).await.unwrap();
    let used_up = choose(&world, (&other, second), &[], Some("GRAPES"), at(2)).await;
    assert_eq!(refusal(used_up), Refusal::PromotionUsedUp);
    choose(&world, (&fan, first), &[], None, at(3)).await.unwrap();
    assert_eq!(n_used(&world).await, 0, "taken back by the fan");
    choose(&world, (&fan, first), &[], Some("GRAPES"), at(4)).await.unwrap();
    let release = ReleaseSeats { reservation: first, user: fan.id, now: at(5) };
    world.store.release_seats(release).await.unwrap();
    assert_eq!(n_used(&world).await, 0, "released");
    choose(&world, (&other, second), &[], Some("GRAPES"), at(6)).await.unwrap();
    world.store.expire_holds(at(301), 10).await.unwrap();
    assert_eq!(world.status(&other, second).await, ReservationStatus::Expired);
    assert_eq!(n_used(&world).await, 0, "expired");
    world.finish().await;
}

#[tokio::test]
async fn a_free_order_is_confirmed_and_canceled_without_money() {
    let world = World::new().await;
    set_options(&world, Vec::new(), fees(FeeRefund::Always)).await;
    let free = Promotion { discount: Discount::Percent(100), uses_max: 9, ..ten_percent(&world) };
    add(&world, free).await.unwrap();
    let fan = world.fan().await;
    let id = world.hold(&fan, &[0, 1], at(1)).await.unwrap().reservation_id;
    let view = choose(&world, (&fan, id), &[], Some("GRAPES"), at(2)).await.unwrap();
    assert_eq!(view.amount, won(0));
    let by_card = world.request(&fan, id, PaymentMethod::Card, at(3)).await;
    assert_eq!(refusal(by_card), Refusal::NothingToPay);
    let sold = pay(&world, &fan, &view, at(3)).await.unwrap();
    assert_eq!(sold.confirmed.tickets.len(), 2);
    let part = cancel(&world, &fan, &sold, &[0], at(4)).await;
    assert_eq!((part.refund_id, part.status), (None, PaymentStatus::Captured));
    world.check_invariants(at(4)).await;
    let rest = cancel(&world, &fan, &sold, &[], at(5)).await;
    assert_eq!((rest.refund_amount, rest.status), (won(0), PaymentStatus::Refunded));
    assert_eq!(world.store.balance(fan.id).await.unwrap(), won(0));
    world.finish().await;
}

#[tokio::test]
async fn a_preview_agrees_with_the_refund_and_a_booking_day_ends_at_midnight() {
    let world = World::new().await;
    set_options(&world, Vec::new(), fees(FeeRefund::BookingDay)).await;
    for (cancel_at, kept) in [(60, 0), (5 * 3_600, BOOKING_FEE + ORDER_FEE)] {
        let fan = world.fan().await;
        world.charge(&fan, 1_000_000).await;
        let id = world.hold(&fan, &[0], at(1)).await.unwrap().reservation_id;
        let view = world.store.reservation(id, fan.id).await.unwrap().unwrap();
        let sold = pay(&world, &fan, &view, at(2)).await.unwrap();
        let question =
            PreviewRefund { reservation: id, user: fan.id, seats: Vec::new(), now: at(cancel_at) };
        let preview = world.store.preview_refund(question).await.unwrap();
        let canceled = cancel(&world, &fan, &sold, &[], at(cancel_at)).await;
        assert_eq!((preview.refund_amount, preview.fee), (canceled.refund_amount, canceled.fee));
        assert_eq!((canceled.fee, preview.fees_kept), (won(kept), won(kept)));
    }
    world.finish().await;
}

#[tokio::test]
async fn revenue_is_what_was_paid_for_the_tickets() {
    let world = World::new().await;
    set_options(&world, vec![child()], fees(FeeRefund::Always)).await;
    let fan = world.fan().await;
    world.charge(&fan, 1_000_000).await;
    let id = world.hold(&fan, &[10, 11], at(1)).await.unwrap().reservation_id;
    let view = choose(&world, (&fan, id), &[(10, Some(1))], None, at(2)).await.unwrap();
    pay(&world, &fan, &view, at(3)).await.unwrap();
    let sales = world.store.seats_by_grade(world.schedule, at(4)).await.unwrap();
    let of_grade = sales.iter().find(|sales| sales.grade == "R").unwrap();
    assert_eq!((of_grade.sold, of_grade.revenue), (2, won(FAR + FAR / 2)));
    world.finish().await;
}

#[tokio::test]
async fn wrong_choices_change_nothing() {
    let world = World::new().await;
    set_options(&world, vec![child()], Fees::default()).await;
    let base = ten_percent(&world);
    let new = |code: &str| Promotion {
        id: PromotionId::new(world.id()),
        code: code.into(),
        ..base.clone()
    };
    add(&world, Promotion { ends_at: Some(at(-1)), ..new("OVER") }).await.unwrap();
    add(&world, Promotion { amount_min: won(10_000_000), ..new("DEAR") }).await.unwrap();
    add(&world, Promotion { uses_max: 5, uses_per_person: Some(1), ..new("ONCE") }).await.unwrap();
    assert_eq!(refusal(add(&world, new("ONCE")).await), Refusal::PromotionExists);
    let (fan, stranger) = (world.fan().await, world.fan().await);
    let id = world.hold(&fan, &[0], at(1)).await.unwrap().reservation_id;
    let ask = async |types: &[(u32, Option<u32>)], code: Option<&str>| {
        refusal(choose(&world, (&fan, id), types, code, at(2)).await)
    };
    assert_eq!(ask(&[], Some("NONE")).await, Refusal::PromotionWrong);
    assert_eq!(ask(&[], Some("OVER")).await, Refusal::PromotionOver);
    assert_eq!(ask(&[], Some("DEAR")).await, Refusal::PromotionMinimum { amount: won(10_000_000) });
    assert_eq!(ask(&[(1, None)], None).await, Refusal::ForeignSeat);
    assert_eq!(ask(&[(0, None), (0, None)], None).await, Refusal::SeatRepeated);
    let field = "seats[0].ticketTypeId".to_owned();
    assert_eq!(ask(&[(0, Some(9))], None).await, Refusal::TicketTypeUnknown { field });
    let foreign = choose(&world, (&stranger, id), &[], None, at(2)).await;
    assert_eq!(refusal(foreign), Refusal::NotFound);
    let view = world.store.reservation(id, fan.id).await.unwrap().unwrap();
    assert_eq!((view.amount, view.promotion_code), (won(NEAR), None));

    choose(&world, (&fan, id), &[], Some("ONCE"), at(3)).await.unwrap();
    let second = world.hold(&fan, &[1], at(3)).await.unwrap().reservation_id;
    let again = choose(&world, (&fan, second), &[], Some("ONCE"), at(4)).await;
    assert_eq!(refusal(again), Refusal::PromotionUsed);
    let over = choose(&world, (&fan, id), &[], None, at(301)).await;
    assert_eq!(refusal(over), Refusal::HoldOver);
    world.finish().await;
}

#[tokio::test]
async fn an_organiser_cannot_take_away_uses_that_orders_have() {
    let world = World::new().await;
    let made = add(&world, Promotion { uses_max: 3, ..ten_percent(&world) }).await.unwrap();
    let fan = world.fan().await;
    let id = world.hold(&fan, &[0], at(1)).await.unwrap().reservation_id;
    choose(&world, (&fan, id), &[], Some("GRAPES"), at(2)).await.unwrap();
    let (actor, schedule, promotion) = (world.admin, world.schedule, made.id);
    let remove = RemovePromotion { actor, schedule, promotion, now: at(3) };
    assert_eq!(refusal(world.store.remove_promotion(remove.clone()).await), Refusal::InUse);
    let (ends_at, now) = (None, at(3));
    let change = |uses_max| {
        let uses_max = Some(uses_max);
        ChangePromotion { actor, schedule, promotion, ends_at, uses_max, now }
    };
    let none = world.store.change_promotion(change(0)).await;
    assert_eq!(refusal(none), Refusal::InvalidPromotion { field: "usesMax" });
    assert_eq!(world.store.change_promotion(change(1)).await.unwrap().uses_max, 1);
    choose(&world, (&fan, id), &[], None, at(4)).await.unwrap();
    world.store.remove_promotion(remove).await.unwrap();
    assert!(world.store.promotions_of(schedule).await.unwrap().is_empty());
    world.finish().await;
}

const FANS: usize = 30;

/// Many fans with a held order enter one code at once. Returns the answers.
async fn race_for_a_code(off: Vec<Guard>, uses_max: u32) -> (World, Vec<Result<ReservationView>>) {
    let world = World::planned(Plan { off, ..Plan::default() }).await;
    add(&world, Promotion { uses_max, ..ten_percent(&world) }).await.unwrap();
    let fans = world.fans(FANS).await;
    let mut held = Vec::new();
    for (seat, fan) in (0..).zip(&fans) {
        held.push((fan, world.hold(fan, &[seat], at(1)).await.unwrap().reservation_id));
    }
    let calls =
        held.iter().map(|(fan, id)| choose(&world, (*fan, *id), &[], Some("GRAPES"), at(2)));
    let answers = join_all(calls).await;
    (world, answers)
}

#[tokio::test]
async fn of_many_orders_with_one_code_exactly_as_many_as_its_uses_get_it() {
    for uses_max in [1, 7] {
        let (world, answers) = race_for_a_code(Vec::new(), uses_max).await;
        let n_served = answers.iter().filter(|answer| answer.is_ok()).count();
        assert_eq!(n_served, uses_max as usize);
        for error in answers.into_iter().filter_map(Result::err) {
            assert!(matches!(error, Error::Refused(Refusal::PromotionUsedUp)), "{error}");
        }
        world.finish().await;
    }
}

#[tokio::test]
async fn without_the_count_one_code_reduces_every_order() {
    let (world, answers) = race_for_a_code(vec![Guard::CodeUseIsCounted], 1).await;
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), FANS);
    let broken = crate::world::broken(&world.store, at(3)).await;
    assert_eq!(broken, ["I28"]);
    world.abandon("one code reduced every order");
}

/// A payment that was started keeps its amount: of a choice and a capture, one is refused.
#[tokio::test]
async fn a_choice_and_a_payment_of_one_order_take_turns() {
    for round in 0..10 {
        let world = World::new().await;
        add(&world, ten_percent(&world)).await.unwrap();
        let fan = world.fan().await;
        let id = world.hold(&fan, &[0], at(1)).await.unwrap().reservation_id;
        let ready = world.request(&fan, id, PaymentMethod::Card, at(2)).await.unwrap();
        let (chosen, captured) = tokio::join!(
            choose(&world, (&fan, id), &[], Some("GRAPES"), at(3)),
            world.confirm(&fan, &ready, at(3)),
        );
        let is_asked = matches!(captured, Ok(Capture::Ask(_)));
        assert_ne!(chosen.is_ok(), is_asked, "round {round}: {chosen:?} {captured:?}");
        world.finish().await;
    }
}
