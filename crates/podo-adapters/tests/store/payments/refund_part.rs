//! Cancels some seats, by an event's policy, and all seats of a canceled date.

use crate::payments::refund::{buy_by_card, cancel_command};
use crate::world::{FAR, Fan, NEAR, SALE_S, World, at, fresh, refusal, won};
use futures::future::join_all;
use podo_app::booking::port::reservations::Reservations;
use podo_app::catalog::port::{CancelSchedule, Catalog, CreateSchedule};
use podo_app::operations::port::idempotency::Idempotent;
use podo_app::payments::port::payments::{
    CancelPayment, Canceled, Payments, SettlePayment, Settled,
};
use podo_app::payments::port::refunds::{
    OrganiserRefund, PreviewRefund, RefundByOrganiser, Refunds, SetPolicy,
};
use podo_app::payments::port::wallets::Wallets;
use podo_domain::booking::reservations::ReservationStatus;
use podo_domain::messaging::messages::MessageKind;
use podo_domain::payments::refund_policy::{FeeStep, RefundPolicy};
use podo_domain::payments::refunds::RefundTo;
use podo_domain::payments::{Outcome, PaymentStatus, SHOW_CANCELED};
use podo_domain::{PaymentId, RefundId, Refusal, ScheduleId, SeatId, Timestamp, UserId};

fn give(world: &World, fan: &Fan, payment: PaymentId, seats: &[u32]) -> CancelPayment {
    let seats = seats.iter().map(|index| world.schedule.seat(*index)).collect();
    CancelPayment { seats, ..cancel_command(world, fan, payment) }
}

async fn cancel(world: &World, command: CancelPayment) -> Canceled {
    fresh(world.store.cancel_payment(command).await.unwrap()).0
}

async fn set_policy(world: &World, steps: &[(u32, u32)]) {
    set_policy_at(world, steps, at(0)).await;
}

async fn set_policy_at(world: &World, steps: &[(u32, u32)], now: Timestamp) {
    let steps = steps.iter().map(|&(days, percent)| FeeStep::percent(days, percent)).collect();
    let policy = RefundPolicy { steps, ..RefundPolicy::default() };
    let command = SetPolicy { actor: world.admin, event: world.event, policy, now };
    world.store.set_refund_policy(command).await.unwrap();
}

#[tokio::test]
async fn one_seat_of_two_is_given_back_and_the_other_stays() {
    let world = World::new().await;
    let (fan, next) = (world.fan().await, world.fan().await);
    let sold = world.buy(&fan, &[0, 10], at(1)).await;
    let (id, payment) = (sold.confirmed.reservation.id, sold.confirmed.payment_id);
    let first = cancel(&world, give(&world, &fan, payment, &[10])).await;
    assert_eq!(first.reservation_status, ReservationStatus::Confirmed);
    assert_eq!((first.status, first.refund_amount), (PaymentStatus::PartiallyRefunded, won(FAR)));
    assert_eq!(first.seat_ids, [world.schedule.seat(10)]);
    assert_eq!(world.store.balance(fan.id).await.unwrap(), won(1_000_000 - NEAR));
    let view = world.store.reservation(id, fan.id).await.unwrap().unwrap();
    assert_eq!((view.amount, view.seats.len()), (won(NEAR), 1));
    world.check_invariants(at(100)).await;
    world.buy(&next, &[10], at(101)).await;
    // The canceled seat belongs to another fan now, and canceling the rest leaves it alone.
    let again = world.store.cancel_payment(give(&world, &fan, payment, &[10])).await;
    assert_eq!(refusal(again), Refusal::ForeignSeat);
    let rest = cancel(&world, give(&world, &fan, payment, &[])).await;
    assert_eq!(rest.reservation_status, ReservationStatus::Canceled);
    assert_eq!((rest.status, rest.refund_amount), (PaymentStatus::Refunded, won(NEAR)));
    let told = world.told(id.uuid()).await;
    assert_eq!(
        told[told.len() - 2..],
        [MessageKind::ReservationReduced, MessageKind::ReservationCanceled]
    );
    world.finish().await;
}

#[tokio::test]
async fn refunds_of_one_card_are_made_one_after_the_other() {
    let world = World::new().await;
    let fan = world.fan().await;
    let (_, ready) = world.start_paying(&fan, &[0, 10], at(0)).await;
    let outcome = Outcome::Captured { amount: ready.amount };
    let payment = ready.payment_id;
    let settle = SettlePayment {
        payment,
        outcome,
        answer: None,
        reference: None,
        paid_with: None,
        now: at(1),
    };
    world.store.settle_payment(settle).await.unwrap();
    let first = cancel(&world, give(&world, &fan, payment, &[10])).await;
    let second = cancel(&world, give(&world, &fan, payment, &[0])).await;
    assert_eq!(second.status, PaymentStatus::RefundDue);
    world.check_invariants(at(100)).await;
    let due = world.store.take_due_refunds(at(100), at(101), 10).await.unwrap();
    assert_eq!(due.len(), 1, "{due:?}");
    assert_eq!((due[0].refund, due[0].in_book.refunded_before), (first.refund_id.unwrap(), won(0)));
    world.store.finish_refund(first.refund_id.unwrap(), at(101)).await.unwrap();
    world.check_invariants(at(101)).await;
    let due = world.store.take_due_refunds(at(101), at(102), 10).await.unwrap();
    assert_eq!(
        (due[0].refund, due[0].in_book.refunded_before),
        (second.refund_id.unwrap(), won(FAR))
    );
    world.store.finish_refund(second.refund_id.unwrap(), at(102)).await.unwrap();
    let view = world.store.payment(payment, fan.id).await.unwrap().unwrap();
    assert_eq!((view.status, view.refunded), (PaymentStatus::Refunded, won(NEAR + FAR)));
    assert_eq!(view.refunds.len(), 2);
    world.finish().await;
}

/// Refund ids come from many clocks, so their order is meaningless.
#[tokio::test]
async fn refunds_of_one_card_are_made_in_the_order_in_which_they_were_queued() {
    let world = World::new().await;
    let fan = world.fan().await;
    let (_, ready) = world.start_paying(&fan, &[0, 1, 10], at(0)).await;
    let outcome = Outcome::Captured { amount: ready.amount };
    let payment = ready.payment_id;
    let settle = SettlePayment {
        payment,
        outcome,
        answer: None,
        reference: None,
        paid_with: None,
        now: at(1),
    };
    world.store.settle_payment(settle).await.unwrap();
    let id = |number: u128| RefundId::new(uuid::Uuid::from_u128(number));
    let mut promised = Vec::new();
    for (seat, refund) in [(10, id(3)), (0, id(1)), (1, id(2))] {
        let command = CancelPayment { refund, ..give(&world, &fan, payment, &[seat]) };
        promised.push(cancel(&world, command).await.refund_id.unwrap());
    }
    for (refund, number) in promised.iter().zip(1..) {
        let due = world.store.take_due_refunds(at(200), at(300), 10).await.unwrap();
        let due: Vec<_> = due.iter().map(|due| (due.refund, due.number)).collect();
        assert_eq!(due, [(*refund, number)]);
        let other = world.store.take_due_refunds(at(200), at(300), 10).await.unwrap();
        assert!(other.is_empty(), "one at a time: {other:?}");
        world.store.finish_refund(*refund, at(201)).await.unwrap();
    }
    world.finish().await;
}

#[tokio::test]
async fn a_card_may_be_refunded_to_the_wallet_at_once() {
    let world = World::new().await;
    let fan = world.fan().await;
    let payment = buy_by_card(&world, &fan).await;
    let command = CancelPayment { to: RefundTo::Wallet, ..give(&world, &fan, payment, &[]) };
    let canceled = cancel(&world, command).await;
    assert_eq!(canceled.status, PaymentStatus::Refunded);
    assert_eq!(world.store.balance(fan.id).await.unwrap(), won(FAR));
    assert!(world.store.take_due_refunds(at(200), at(201), 10).await.unwrap().is_empty());
    world.finish().await;
}

#[tokio::test]
async fn the_policy_keeps_a_fee_and_the_preview_says_so_before() {
    let world = World::new().await;
    let fan = world.fan().await;
    let sold = world.buy(&fan, &[0, 10], at(1)).await;
    // The show is two days away: the last step applies.
    set_policy(&world, &[(9, 10), (2, 30)]).await;
    let question = PreviewRefund {
        reservation: sold.confirmed.reservation.id,
        user: fan.id,
        seats: vec![world.schedule.seat(0)],
        now: at(100),
    };
    let preview = world.store.preview_refund(question.clone()).await.unwrap();
    assert_eq!((preview.fee_percent, preview.fee), (30, won(NEAR * 3 / 10)));
    let payment = sold.confirmed.payment_id;
    let canceled = cancel(&world, give(&world, &fan, payment, &[0])).await;
    assert_eq!((canceled.refund_amount, canceled.fee), (preview.refund_amount, preview.fee));
    assert_eq!(canceled.status, PaymentStatus::PartiallyRefunded);
    let other = world.fan().await;
    let foreign = PreviewRefund { user: other.id, ..question.clone() };
    assert_eq!(refusal(world.store.preview_refund(foreign).await), Refusal::NotFound);
    let late = CancelPayment { now: at(SALE_S * 3 / 2), ..give(&world, &fan, payment, &[]) };
    assert_eq!(refusal(world.store.cancel_payment(late).await), Refusal::CancelClosed);
    world.finish().await;
}

#[tokio::test]
async fn an_order_keeps_the_policy_under_which_its_seats_were_held() {
    let world = World::new().await;
    let (first, second, third) = (world.fan().await, world.fan().await, world.fan().await);
    let before = world.buy(&first, &[0], at(1)).await;
    set_policy_at(&world, &[(9, 10), (2, 30)], at(5)).await;
    let after = world.buy(&second, &[1], at(6)).await;
    set_policy_at(&world, &[(9, 10), (2, 50)], at(7)).await;
    let newest = world.buy(&third, &[2], at(8)).await;
    for (fan, sold, percent) in [(&first, before, 0), (&second, after, 30), (&third, newest, 50)] {
        let question = PreviewRefund {
            reservation: sold.confirmed.reservation.id,
            user: fan.id,
            seats: Vec::new(),
            now: at(100),
        };
        let preview = world.store.preview_refund(question).await.unwrap();
        assert_eq!(
            (preview.fee_percent, preview.fee),
            (percent, won(NEAR * i64::from(percent) / 100))
        );
        let canceled = cancel(&world, give(&world, fan, sold.confirmed.payment_id, &[])).await;
        assert_eq!(canceled.fee, preview.fee);
    }
    world.finish().await;
}

#[tokio::test]
async fn of_many_who_give_back_the_same_seat_one_gets_its_money() {
    let world = World::new().await;
    let fan = world.fan().await;
    let sold = world.buy(&fan, &[0, 1, 10], at(1)).await;
    let payment = sold.confirmed.payment_id;
    let commands = (0..30).map(|turn| give(&world, &fan, payment, &[[0, 1, 10][turn % 3]]));
    let answers = join_all(commands.map(|command| world.store.cancel_payment(command))).await;
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 3);
    assert_eq!(world.store.balance(fan.id).await.unwrap(), won(1_000_000));
    world.finish().await;
}

pub(crate) fn by_organiser(world: &World, actor: UserId, payment: PaymentId) -> RefundByOrganiser {
    let fan = Fan { id: actor, entry: world.entry(world.number()) };
    RefundByOrganiser {
        key: world.key(&fan, "admin/refund"),
        actor,
        payment,
        refund: RefundId::new(world.id()),
        reason: "FALL_FROM_STAGE".into(),
        seats: Vec::<SeatId>::new(),
        fee_percent: 0,
        refunds_fees: None,
        to: RefundTo::Original,
        now: at(100),
    }
}

#[tokio::test]
async fn an_organiser_gives_money_back_whatever_the_policy_says() {
    let world = World::new().await;
    let fan = world.fan().await;
    let sold = world.buy(&fan, &[0], at(1)).await;
    set_policy(&world, &[(9, 10)]).await;
    let command = by_organiser(&world, world.admin, sold.confirmed.payment_id);
    let made = world.store.refund_by_organiser(command.clone()).await.unwrap();
    let Idempotent::Fresh(OrganiserRefund::Made(canceled, _)) = made else { panic!("{made:?}") };
    assert_eq!((canceled.refund_amount, canceled.fee), (won(NEAR), won(0)));
    let again = world.store.refund_by_organiser(command).await.unwrap();
    assert!(matches!(again, Idempotent::Replay(_)), "{again:?}");
    world.finish().await;
}

/// Another date whose four seats cost more than one organiser may refund alone.
pub(crate) async fn buy_dear(world: &mut World, fan: &Fan) -> PaymentId {
    let schedule = ScheduleId::with_room_for_seats(world.id());
    let prices = [("VIP".to_owned(), won(400_000)), ("R".to_owned(), won(400_000))].into();
    let command = CreateSchedule { prices, ..world.schedule_command(schedule, 4) };
    world.store.create_schedule(command).await.unwrap();
    world.schedule = schedule;
    world.charge(fan, 1_000_000).await;
    world.buy(fan, &[0, 1, 2, 3], at(1)).await.confirmed.payment_id
}

#[tokio::test]
async fn a_large_refund_needs_two_organisers() {
    let mut world = World::new().await;
    let fan = world.fan().await;
    let payment = buy_dear(&mut world, &fan).await;
    let second = world.fan().await.id;
    for _ in 0..2 {
        let command = by_organiser(&world, world.admin, payment);
        let asked = fresh(world.store.refund_by_organiser(command).await.unwrap());
        assert!(matches!(asked, OrganiserRefund::SecondNeeded(_)), "{asked:?}");
    }
    let view = world.store.payment(payment, fan.id).await.unwrap().unwrap();
    assert_eq!(view.status, PaymentStatus::Captured);
    let command = by_organiser(&world, second, payment);
    let made = fresh(world.store.refund_by_organiser(command).await.unwrap());
    assert!(matches!(made, OrganiserRefund::Made(..)), "{made:?}");
    world.finish().await;
}

#[tokio::test]
async fn a_canceled_date_gives_everybody_all_their_money_even_after_a_stop() {
    let world = World::new().await;
    set_policy(&world, &[(9, 10), (1, 50)]).await;
    let fans = [world.fan().await, world.fan().await, world.fan().await];
    for (fan, seat) in fans.iter().zip(0..) {
        world.buy(fan, &[seat], at(1)).await;
    }
    let late = world.fan().await;
    let (paying, ready) = world.start_paying(&late, &[20], at(2)).await;
    assert!(world.store.runs_to_do(at(3)).await.unwrap().is_empty());
    let command = CancelSchedule { actor: world.admin, schedule: world.schedule, now: at(3) };
    world.store.cancel_schedule(command).await.unwrap();
    assert_eq!(world.store.runs_to_do(at(4)).await.unwrap(), [world.schedule]);
    let paid = world.store.to_refund(world.schedule, at(9_999), 2).await.unwrap();
    assert_eq!(paid.len(), 2);
    let refund = async |id| world.store.refund_canceled(id, RefundId::new(world.id()), at(5)).await;
    refund(paid[0]).await.unwrap().unwrap();
    assert!(refund(paid[0]).await.unwrap().is_none(), "once is enough");
    // Another process continues.
    let again = world.restart().await;
    assert_eq!(again.runs_to_do(at(6)).await.unwrap(), [world.schedule]);
    for id in again.to_refund(world.schedule, at(9_999), 100).await.unwrap() {
        again.refund_canceled(id, RefundId::new(world.id()), at(6)).await.unwrap().unwrap();
    }
    assert!(!again.finish_run(world.schedule, at(7)).await.unwrap(), "a payment is in progress");
    let outcome = Outcome::Captured { amount: ready.amount };
    let settle = SettlePayment {
        payment: ready.payment_id,
        outcome,
        answer: None,
        reference: None,
        paid_with: None,
        now: at(8),
    };
    let settled = again.settle_payment(settle).await.unwrap();
    assert!(matches!(settled, Settled::RefundDue { reason: SHOW_CANCELED, .. }), "{settled:?}");
    assert_eq!(world.status(&late, paying).await, ReservationStatus::Canceled);
    assert!(again.to_refund(world.schedule, at(9_999), 100).await.unwrap().is_empty());
    assert!(again.finish_run(world.schedule, at(9)).await.unwrap());
    let run = again.refund_run(world.schedule).await.unwrap().unwrap();
    assert_eq!((run.is_done, run.reservations, run.refunded, run.due), (true, 4, 4, 1));
    for fan in fans {
        assert_eq!(again.balance(fan.id).await.unwrap(), won(1_000_000));
    }
    world.finish().await;
}
