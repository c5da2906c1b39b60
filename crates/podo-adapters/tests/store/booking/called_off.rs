//! A canceled date: nothing more is sold, and fans who were paying get a full refund.

use crate::world::{FAR, World, at, refusal};
use podo_app::booking::port::reservations::Reservations;
use podo_app::catalog::port::{CancelSchedule, Catalog, ChangeEvent, CreateSchedule, EventVerb};
use podo_app::operations::port::idempotency::IdempotencyKeys;
use podo_app::payments::port::payments::{Payments, SettlePayment, Settled};
use podo_domain::booking::reservations::ReservationStatus;
use podo_domain::catalog::{EventStatus, ScheduleStatus, ScheduleTimes};
use podo_domain::messaging::messages::MessageKind;
use podo_domain::payments::{Outcome, PaymentMethod, PaymentStatus};
use podo_domain::{Refusal, ScheduleId};

async fn call_off(world: &World, now: i64) {
    let command = CancelSchedule { actor: world.admin, schedule: world.schedule, now: at(now) };
    world.store.cancel_schedule(command).await.unwrap();
}

#[tokio::test]
async fn nothing_is_held_requested_or_confirmed_for_a_date_that_is_called_off() {
    let world = World::new().await;
    let (fan, other) = (world.fan().await, world.fan().await);
    world.charge(&fan, 1_000_000).await;
    let held = world.hold(&fan, &[10], at(1)).await.unwrap();
    let (wallet, card) = (PaymentMethod::Wallet, PaymentMethod::Card);
    let ready = world.request(&fan, held.reservation_id, wallet, at(2)).await.unwrap();
    call_off(&world, 3).await;
    let canceled = Refusal::ScheduleCanceled;
    assert_eq!(refusal(world.confirm(&fan, &ready, at(4)).await), canceled);
    assert_eq!(refusal(world.request(&fan, held.reservation_id, card, at(4)).await), canceled);
    assert_eq!(refusal(world.hold(&other, &[11], at(4)).await), canceled);
    assert!(
        world.store.schedules_alive(at(4)).await.unwrap().is_empty(),
        "no more fans are admitted"
    );
    assert_eq!(world.store.expire_holds(at(2_000), 10).await.unwrap().len(), 1);
    let view = world.store.payment(ready.payment_id, fan.id).await.unwrap().unwrap();
    assert_eq!(view.status, PaymentStatus::Canceled);
    world.finish().await;
}

#[tokio::test]
async fn a_card_that_is_charged_after_the_date_is_called_off_is_owed_its_money() {
    let world = World::new().await;
    let fan = world.fan().await;
    let held = world.hold(&fan, &[10], at(0)).await.unwrap();
    let card = PaymentMethod::Card;
    let ready = world.request(&fan, held.reservation_id, card, at(0)).await.unwrap();
    let confirm = world.confirm_command(&fan, &ready, at(1));
    world.store.confirm_payment(confirm.clone()).await.unwrap();
    call_off(&world, 2).await;
    let settle = |outcome| SettlePayment {
        payment: ready.payment_id,
        outcome,
        answer: None,
        reference: None,
        paid_with: None,
        now: at(3),
    };
    let outcome = Outcome::Captured { amount: ready.amount };
    let settled = world.store.settle_payment(settle(outcome)).await.unwrap();
    let Settled::RefundDue { freed: Some(freed), .. } = settled else { panic!("{settled:?}") };
    assert_eq!(freed.seats, [10]);
    let view = world.store.payment(ready.payment_id, fan.id).await.unwrap().unwrap();
    assert_eq!((view.status, view.refunds[0].amount.get()), (PaymentStatus::RefundDue, FAR));
    assert_eq!(view.refunds[0].reason, "SHOW_CANCELED");
    let answer = world.store.stored_answer(&confirm.key).await.unwrap().unwrap();
    assert_eq!((answer.status, &*answer.body), (402, r#"{"reason":"SHOW_CANCELED"}"#));
    assert_eq!(world.status(&fan, held.reservation_id).await, ReservationStatus::Canceled);
    let told = world.told(held.reservation_id.uuid()).await;
    assert_eq!(told.last(), Some(&MessageKind::ReservationCanceled));
    world.store.finish_refund(view.refunds[0].id, at(4)).await.unwrap();
    world.finish().await;
}

#[tokio::test]
async fn a_card_that_is_declined_after_the_date_is_called_off_keeps_no_seats() {
    let world = World::new().await;
    let fan = world.fan().await;
    let (reservation, ready) = world.start_paying(&fan, &[10], at(0)).await;
    call_off(&world, 2).await;
    let settle = SettlePayment {
        payment: ready.payment_id,
        outcome: Outcome::NotCaptured { reason: "NO_MONEY".into() },
        answer: None,
        reference: None,
        paid_with: None,
        now: at(3),
    };
    let settled = world.store.settle_payment(settle).await.unwrap();
    let Settled::Declined { reason, freed: Some(_) } = settled else { panic!("{settled:?}") };
    assert_eq!(reason, "SHOW_CANCELED");
    assert_eq!(world.status(&fan, reservation).await, ReservationStatus::Canceled);
    world.finish().await;
}

#[tokio::test]
async fn calling_off_an_event_calls_off_the_dates_that_are_to_come() {
    let world = World::new().await;
    let over = ScheduleId::with_room_for_seats(world.id());
    let command = world.schedule_command(over, 4);
    let times = ScheduleTimes {
        starts_at: at(-40),
        ends_at: at(-10),
        sale_starts_at: at(-80),
        sale_ends_at: at(-50),
    };
    world.store.create_schedule(CreateSchedule { times, ..command }).await.unwrap();
    let (actor, event) = (world.admin, world.event);
    let command = ChangeEvent { actor, event, verb: EventVerb::Cancel, now: at(1) };
    let status = world.store.change_event(command.clone()).await.unwrap();
    assert_eq!(status, EventStatus::Cancelled);
    world.store.change_event(command).await.unwrap();
    let status = async |id| world.store.schedule(id).await.unwrap().unwrap().status;
    assert_eq!(status(world.schedule).await, ScheduleStatus::Cancelled);
    assert_eq!(status(over).await, ScheduleStatus::Upcoming, "it has taken place");
    world.finish().await;
}
