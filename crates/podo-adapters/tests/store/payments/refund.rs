//! Cancels a purchase: frees seats, voids tickets, refunds money exactly once.

use crate::world::{FAR, Fan, NEAR, World, at, fresh, refusal, won};
use futures::future::join_all;
use podo_app::Error;
use podo_app::operations::port::idempotency::Idempotent;
use podo_app::payments::port::payments::{
    CancelPayment, Canceled, DueRefund, Payments, PutOffRefund, SettlePayment,
};
use podo_app::payments::port::wallets::Wallets;
use podo_app::store::PageRequest;
use podo_app::tickets::port::Tickets;
use podo_domain::booking::reservations::ReservationStatus;
use podo_domain::messaging::messages::MessageKind;
use podo_domain::payments::refunds::RefundTo;
use podo_domain::payments::{Outcome, PaymentMethod, PaymentStatus};
use podo_domain::tickets::TicketStatus;
use podo_domain::{PaymentId, RefundId, Refusal};

const ALL: PageRequest = PageRequest { limit: 100, after: None };

pub(crate) fn cancel_command(world: &World, fan: &Fan, payment: PaymentId) -> CancelPayment {
    CancelPayment {
        key: world.key(fan, "payment/cancel"),
        payment,
        user: fan.id,
        refund: RefundId::new(world.id()),
        reason: "CHANGED_MIND".into(),
        seats: Vec::new(),
        to: RefundTo::Original,
        now: at(100),
    }
}

async fn cancel(world: &World, fan: &Fan, payment: PaymentId) -> Canceled {
    let command = cancel_command(world, fan, payment);
    fresh(world.store.cancel_payment(command).await.unwrap()).0
}

/// Buys seat 10 by card.
pub(crate) async fn buy_by_card(world: &World, fan: &Fan) -> PaymentId {
    let (_, ready) = world.start_paying(fan, &[10], at(0)).await;
    let payment = ready.payment_id;
    let outcome = Outcome::Captured { amount: ready.amount };
    let settle = SettlePayment {
        payment,
        outcome,
        answer: None,
        reference: None,
        paid_with: None,
        now: at(1),
    };
    world.store.settle_payment(settle).await.unwrap();
    payment
}

#[tokio::test]
async fn a_wallet_purchase_is_refunded_at_once() {
    let world = World::new().await;
    let (fan, next) = (world.fan().await, world.fan().await);
    let sold = world.buy(&fan, &[0, 10], at(1)).await;
    let command = cancel_command(&world, &fan, sold.confirmed.payment_id);
    let (canceled, freed) = fresh(world.store.cancel_payment(command.clone()).await.unwrap());
    assert_eq!(freed.seats, [0, 10]);
    assert_eq!(canceled.status, PaymentStatus::Refunded);
    assert_eq!(canceled.reservation_status, ReservationStatus::Canceled);
    assert_eq!(canceled.refund_amount, won(NEAR + FAR));
    assert_eq!(world.store.balance(fan.id).await.unwrap(), won(1_000_000));
    let tickets = world.store.tickets_of(fan.id, ALL).await.unwrap();
    assert!(tickets.iter().all(|ticket| ticket.status == TicketStatus::Void));
    let told = world.told(canceled.refund_id.unwrap().uuid()).await;
    assert_eq!(told, [MessageKind::RefundDue, MessageKind::PaymentRefunded]);
    let Idempotent::Replay(answer) = world.store.cancel_payment(command).await.unwrap() else {
        panic!("canceled twice");
    };
    assert_eq!(answer.body, serde_json::to_string(&canceled).unwrap());
    // A canceled sale never blocks the next one.
    world.buy(&next, &[0, 10], at(101)).await;
    world.finish().await;
}

#[tokio::test]
async fn a_card_purchase_is_refunded_when_the_gateway_has_done_it() {
    let world = World::new().await;
    let fan = world.fan().await;
    let payment = buy_by_card(&world, &fan).await;
    let canceled = cancel(&world, &fan, payment).await;
    assert_eq!(canceled.status, PaymentStatus::RefundDue);
    world.check_invariants(at(100)).await;
    world.store.finish_refund(canceled.refund_id.unwrap(), at(110)).await.unwrap();
    world.store.finish_refund(canceled.refund_id.unwrap(), at(120)).await.unwrap();
    let view = world.store.payment(payment, fan.id).await.unwrap().unwrap();
    assert_eq!((view.status, view.refunded), (PaymentStatus::Refunded, won(FAR)));
    let told = world.told(canceled.refund_id.unwrap().uuid()).await;
    assert_eq!(told, [MessageKind::RefundDue, MessageKind::PaymentRefunded], "each once");
    assert_eq!(
        refusal(world.store.finish_refund(RefundId::new(world.id()), at(1)).await),
        Refusal::NotFound
    );
    world.finish().await;
}

#[tokio::test]
async fn due_refunds_are_taken_by_one_node_at_a_time_and_put_off() {
    let world = World::new().await;
    let fan = world.fan().await;
    let payment = buy_by_card(&world, &fan).await;
    let refund = cancel(&world, &fan, payment).await.refund_id.unwrap();
    assert!(world.store.take_due_refunds(at(99), at(130), 10).await.unwrap().is_empty());
    let due = world.store.take_due_refunds(at(100), at(130), 10).await.unwrap();
    assert_eq!((due[0].refund, due[0].payment, due[0].attempts), (refund, payment, 1));
    assert_eq!((due[0].gateway.as_str(), due[0].amount), ("sandbox", won(FAR)));
    assert!(world.store.take_due_refunds(at(129), at(160), 10).await.unwrap().is_empty());
    let put_off = |attempts| PutOffRefund {
        refund,
        attempts,
        error: "gateway down".into(),
        next_at: at(500),
        now: at(130),
    };
    world.store.put_off_refund(put_off(1)).await.unwrap();
    assert!(world.store.take_due_refunds(at(499), at(600), 10).await.unwrap().is_empty());
    let due = world.store.take_due_refunds(at(500), at(600), 10).await.unwrap();
    assert_eq!((due[0].attempts, due[0].in_book.book_before), (2, None));
    // A node that was away doesn't postpone a refund that another has claimed since.
    world.store.put_off_refund(put_off(1)).await.unwrap();
    assert!(world.store.take_due_refunds(at(550), at(600), 10).await.unwrap().is_empty());
    world.store.start_refund(&due[0], won(7), at(700), at(510)).await.unwrap();
    let old = DueRefund { attempts: 1, ..due[0].clone() };
    let late = world.store.start_refund(&old, won(0), at(700), at(511)).await;
    assert!(matches!(late, Err(Error::Conflict(_))), "{late:?}");
    let due = world.store.take_due_refunds(at(700), at(800), 10).await.unwrap();
    assert_eq!(due[0].in_book.book_before, Some(won(7)), "what the book showed is remembered");
    world.store.finish_refund(refund, at(501)).await.unwrap();
    assert!(world.store.take_due_refunds(at(9_999), at(9_999), 10).await.unwrap().is_empty());
    world.finish().await;
}

#[tokio::test]
async fn only_what_was_paid_can_be_canceled_and_only_by_its_owner() {
    let world = World::new().await;
    let (fan, other) = (world.fan().await, world.fan().await);
    let held = world.hold(&fan, &[10], at(0)).await.unwrap();
    let card = PaymentMethod::Card;
    let ready = world.request(&fan, held.reservation_id, card, at(0)).await.unwrap();
    let ask = async |fan: &Fan| {
        let command = cancel_command(&world, fan, ready.payment_id);
        refusal(world.store.cancel_payment(command).await)
    };
    assert_eq!(ask(&fan).await, Refusal::NotPaid);
    world.confirm(&fan, &ready, at(1)).await.unwrap();
    assert_eq!(ask(&fan).await, Refusal::PaymentRunning);
    assert_eq!(ask(&other).await, Refusal::NotFound);
    world.finish().await;
}

#[tokio::test]
async fn of_many_cancels_at_once_one_pays_back() {
    let world = World::new().await;
    let fan = world.fan().await;
    let sold = world.buy(&fan, &[0], at(1)).await;
    let commands = (0..40).map(|_| cancel_command(&world, &fan, sold.confirmed.payment_id));
    let answers = join_all(commands.map(|command| world.store.cancel_payment(command))).await;
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1);
    assert_eq!(world.store.balance(fan.id).await.unwrap(), won(1_000_000));
    world.finish().await;
}

#[tokio::test]
async fn a_refund_finished_by_many_nodes_is_made_once() {
    let world = World::new().await;
    let fan = world.fan().await;
    let payment = buy_by_card(&world, &fan).await;
    let refund = cancel(&world, &fan, payment).await.refund_id.unwrap();
    let answers = join_all((0..40).map(|_| world.store.finish_refund(refund, at(110)))).await;
    assert!(answers.iter().all(Result::is_ok));
    let view = world.store.payment(payment, fan.id).await.unwrap().unwrap();
    assert_eq!(view.refunded, won(FAR));
    world.finish().await;
}
