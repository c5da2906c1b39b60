//! The only exit from `PAYING`, whichever path settles it and however often.

use crate::world::{FAR, World, at, fresh, refusal, won};
use futures::future::join_all;
use podo_app::operations::port::idempotency::{IdempotencyKeys, Idempotent};
use podo_app::payments::port::payments::{Payments, SettlePayment, Settled};
use podo_domain::booking::reservations::{RETRY_WINDOW, ReservationStatus};
use podo_domain::messaging::messages::MessageKind;
use podo_domain::payments::{Outcome, PaymentMethod, PaymentStatus};
use podo_domain::{PaymentId, Refusal, Timestamp};
use std::time::Duration;

fn outcome(payment: PaymentId, outcome: Outcome, now: Timestamp) -> SettlePayment {
    let answer = Some("{\"code\":1}".into());
    SettlePayment { payment, outcome, answer, reference: None, paid_with: None, now }
}

fn captured(amount: i64) -> Outcome {
    Outcome::Captured { amount: won(amount) }
}

fn declined() -> Outcome {
    Outcome::NotCaptured { reason: "CARD_LIMIT".into() }
}

async fn payment_status(world: &World, fan: &crate::world::Fan, id: PaymentId) -> PaymentStatus {
    world.store.payment(id, fan.id).await.unwrap().unwrap().status
}

#[tokio::test]
async fn captured_money_sells_the_seats_and_answers_the_confirm_call() {
    let world = World::new().await;
    let fan = world.fan().await;
    let held = world.hold(&fan, &[10, 11], at(1)).await.unwrap();
    let card = PaymentMethod::Card;
    let ready = world.request(&fan, held.reservation_id, card, at(1)).await.unwrap();
    let confirm = world.confirm_command(&fan, &ready, at(2));
    fresh(world.store.confirm_payment(confirm.clone()).await.unwrap());
    let settle = outcome(ready.payment_id, captured(2 * FAR), at(3));
    let Settled::Sold(sold) = world.store.settle_payment(settle).await.unwrap() else {
        panic!("not sold");
    };
    assert_eq!(sold.seats.seats, [10, 11]);
    assert_eq!(sold.confirmed.tickets.len(), 2);
    let Idempotent::Replay(answer) = world.store.confirm_payment(confirm.clone()).await.unwrap()
    else {
        panic!("confirmed twice");
    };
    assert_eq!(answer.status, 200);
    assert_eq!(answer.body, serde_json::to_string(&sold.confirmed).unwrap());
    assert_eq!(world.store.stored_answer(&confirm.key).await.unwrap(), Some(answer));
    let told = world.told(held.reservation_id.uuid()).await;
    let paid = [MessageKind::ReservationPaying, MessageKind::ReservationConfirmed];
    assert_eq!(told[told.len() - 2..], paid);
    world.finish().await;
}

#[tokio::test]
async fn money_that_arrives_long_after_the_hold_still_buys_the_seats() {
    let world = World::new().await;
    let fan = world.fan().await;
    let (reservation, ready) = world.start_paying(&fan, &[10], at(1)).await;
    let late = ready.hold_expires_at.plus(Duration::from_secs(600));
    let settle = outcome(ready.payment_id, captured(FAR), late);
    let settled = world.store.settle_payment(settle).await.unwrap();
    assert!(matches!(settled, Settled::Sold(_)), "{settled:?}");
    assert_eq!(world.status(&fan, reservation).await, ReservationStatus::Confirmed);
    world.finish().await;
}

#[tokio::test]
async fn a_declined_fan_keeps_the_seats_for_two_minutes_once() {
    let world = World::new().await;
    let fan = world.fan().await;
    let (reservation, ready) = world.start_paying(&fan, &[10], at(0)).await;
    let now = at(290);
    let settle = outcome(ready.payment_id, declined(), now);
    let settled = world.store.settle_payment(settle).await.unwrap();
    assert!(
        matches!(&settled, Settled::Declined { reason, freed: None } if reason == "CARD_LIMIT")
    );
    assert_eq!(world.status(&fan, reservation).await, ReservationStatus::Held);
    let second = world.request(&fan, reservation, PaymentMethod::Card, now).await.unwrap();
    assert!(second.hold_expires_at >= now.plus(RETRY_WINDOW));
    // The second decline doesn't extend the hold, whose time is over by then.
    world.confirm(&fan, &second, now).await.unwrap();
    let over = second.hold_expires_at;
    let settle = outcome(second.payment_id, declined(), over);
    let settled = world.store.settle_payment(settle).await.unwrap();
    assert!(
        matches!(&settled, Settled::Declined { freed: Some(freed), .. } if freed.seats == [10])
    );
    assert_eq!(world.status(&fan, reservation).await, ReservationStatus::Expired);
    world.finish().await;
}

#[tokio::test]
async fn a_decline_answers_the_confirm_call_and_frees_the_way_for_another_card() {
    let world = World::new().await;
    let fan = world.fan().await;
    let held = world.hold(&fan, &[10], at(0)).await.unwrap();
    let card = PaymentMethod::Card;
    let ready = world.request(&fan, held.reservation_id, card, at(0)).await.unwrap();
    let confirm = world.confirm_command(&fan, &ready, at(1));
    fresh(world.store.confirm_payment(confirm.clone()).await.unwrap());
    let settle = outcome(ready.payment_id, declined(), at(2));
    world.store.settle_payment(settle).await.unwrap();
    let answer = world.store.stored_answer(&confirm.key).await.unwrap().unwrap();
    assert_eq!((answer.status, answer.body.as_str()), (402, "{\"reason\":\"CARD_LIMIT\"}"));
    let second = world.request(&fan, held.reservation_id, card, at(3)).await.unwrap();
    world.confirm(&fan, &second, at(4)).await.unwrap();
    let settle = outcome(second.payment_id, captured(FAR), at(5));
    let settled = world.store.settle_payment(settle).await.unwrap();
    assert!(matches!(settled, Settled::Sold(_)), "{settled:?}");
    world.finish().await;
}

#[tokio::test]
async fn an_unknown_outcome_keeps_everything_until_it_is_known() {
    let world = World::new().await;
    let fan = world.fan().await;
    let (reservation, ready) = world.start_paying(&fan, &[10], at(0)).await;
    let payment = ready.payment_id;
    let ask =
        async |what, now| world.store.settle_payment(outcome(payment, what, now)).await.unwrap();
    assert!(matches!(ask(Outcome::Unknown, at(60)).await, Settled::StillUnknown));
    assert_eq!(payment_status(&world, &fan, payment).await, PaymentStatus::Unknown);
    ask(Outcome::Unknown, at(120)).await;
    assert_eq!(world.status(&fan, reservation).await, ReservationStatus::Paying);
    assert!(matches!(ask(captured(FAR), at(180)).await, Settled::Sold(_)));
    world.finish().await;
}

#[tokio::test]
async fn a_wrong_amount_goes_back_and_the_fan_may_try_again() {
    let world = World::new().await;
    let fan = world.fan().await;
    let (reservation, ready) = world.start_paying(&fan, &[10], at(0)).await;
    let settle = outcome(ready.payment_id, captured(FAR - 1), at(1));
    let settled = world.store.settle_payment(settle).await.unwrap();
    assert!(matches!(settled, Settled::RefundDue { freed: None, .. }), "{settled:?}");
    let status = payment_status(&world, &fan, ready.payment_id).await;
    assert_eq!(status, PaymentStatus::RefundDue);
    assert_eq!(world.status(&fan, reservation).await, ReservationStatus::Held);
    world.check_invariants(at(1)).await;
    let due = world.store.take_due_refunds(at(2), at(60), 10).await.unwrap();
    assert_eq!((due.len(), due[0].amount, due[0].attempts), (1, won(FAR - 1), 1));
    world.store.finish_refund(due[0].refund, at(3)).await.unwrap();
    let status = payment_status(&world, &fan, ready.payment_id).await;
    assert_eq!(status, PaymentStatus::Refunded);
    world.request(&fan, reservation, PaymentMethod::Card, at(4)).await.unwrap();
    world.finish().await;
}

#[tokio::test]
async fn settling_again_changes_nothing_whatever_it_says() {
    let world = World::new().await;
    let (fan, other) = (world.fan().await, world.fan().await);
    let (_, paid) = world.start_paying(&fan, &[10], at(0)).await;
    let (_, refused) = world.start_paying(&other, &[11], at(0)).await;
    let settle = async |payment, what| {
        world.store.settle_payment(outcome(payment, what, at(2))).await.unwrap()
    };
    settle(paid.payment_id, captured(FAR)).await;
    settle(refused.payment_id, declined()).await;
    for what in [captured(FAR), captured(1), declined(), Outcome::Unknown] {
        let again = settle(paid.payment_id, what.clone()).await;
        assert!(matches!(again, Settled::Before(PaymentStatus::Captured)), "{again:?}");
    }
    for what in [declined(), Outcome::Unknown] {
        let again = settle(refused.payment_id, what).await;
        assert!(matches!(again, Settled::Before(PaymentStatus::Failed)), "{again:?}");
    }
    world.finish().await;
}

#[tokio::test]
async fn a_charge_after_the_final_no_is_kept_in_the_book_and_goes_back() {
    let world = World::new().await;
    let fan = world.fan().await;
    let (reservation, ready) = world.start_paying(&fan, &[10], at(0)).await;
    let payment = ready.payment_id;
    world.store.settle_payment(outcome(payment, declined(), at(2))).await.unwrap();
    for _ in 0..2 {
        world.store.settle_payment(outcome(payment, captured(FAR), at(3))).await.unwrap();
    }
    let view = world.store.payment(payment, fan.id).await.unwrap().unwrap();
    assert_eq!((view.status, view.refunds.len()), (PaymentStatus::RefundDue, 1));
    assert_eq!(world.status(&fan, reservation).await, ReservationStatus::Held);
    let due = world.store.take_due_refunds(at(3), at(4), 10).await.unwrap();
    world.store.finish_refund(due[0].refund, at(4)).await.unwrap();
    world.finish().await;
}

#[tokio::test]
async fn of_many_who_settle_at_once_exactly_one_does() {
    let world = World::new().await;
    let fan = world.fan().await;
    let (_, ready) = world.start_paying(&fan, &[10], at(0)).await;
    let outcomes = (0..60).map(|turn| if turn % 2 == 0 { captured(FAR) } else { Outcome::Unknown });
    let settles =
        outcomes.map(|what| world.store.settle_payment(outcome(ready.payment_id, what, at(1))));
    let answers = join_all(settles).await;
    let n_done = answers.iter().filter(|answer| matches!(answer, Ok(Settled::Sold(_)))).count();
    assert_eq!(n_done, 1);
    world.finish().await;
}

#[tokio::test]
async fn a_charge_without_a_confirmation_is_refunded() {
    let world = World::new().await;
    let fan = world.fan().await;
    let held = world.hold(&fan, &[10], at(0)).await.unwrap();
    let card = PaymentMethod::Card;
    let ready = world.request(&fan, held.reservation_id, card, at(0)).await.unwrap();
    let settle = outcome(ready.payment_id, captured(FAR), at(1));
    let settled = world.store.settle_payment(settle).await.unwrap();
    assert!(matches!(settled, Settled::RefundDue { freed: None, .. }), "{settled:?}");
    let unknown = outcome(PaymentId::new(world.id()), captured(FAR), at(1));
    assert_eq!(refusal(world.store.settle_payment(unknown).await), Refusal::NotFound);
    world.finish().await;
}
