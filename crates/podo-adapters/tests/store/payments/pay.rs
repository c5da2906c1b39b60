//! Payments: from the wallet in one transaction, by card through an intent that is stored first.

use crate::world::{FAR, Fan, NEAR, World, at, fresh, refusal, won};
use futures::future::join;
use podo_app::booking::port::reservations::Reservations;
use podo_app::operations::port::idempotency::{IdempotencyKeys, Idempotent};
use podo_app::payments::port::payments::{Capture, ConfirmPayment, PayFromWallet, Payments};
use podo_app::payments::port::wallets::Wallets;
use podo_app::store::PageRequest;
use podo_app::tickets::port::Tickets;
use podo_app::waiting_room::port::history::QueueHistory;
use podo_domain::booking::reservations::{PAYMENT_WINDOW, ReservationStatus};
use podo_domain::messaging::messages::MessageKind;
use podo_domain::payments::wallet::LedgerKind;
use podo_domain::payments::{PaymentMethod, PaymentStatus};
use podo_domain::{PaymentId, Refusal, Timestamp, Won};
use std::time::Duration;

const ALL: PageRequest = PageRequest { limit: 100, after: None };

#[tokio::test]
async fn a_wallet_pays_for_everything_in_one_go() {
    let world = World::new().await;
    let fan = world.fan().await;
    let sold = world.buy(&fan, &[9, 10], at(1)).await;
    let reservation = sold.confirmed.reservation.id;
    let amount = NEAR + FAR;
    assert_eq!(world.store.balance(fan.id).await.unwrap(), won(1_000_000 - amount));
    let movements = world.store.movements(fan.id, None, 1).await.unwrap();
    assert_eq!((movements[0].1.kind, movements[0].1.amount), (LedgerKind::Debit, -amount));
    let payment = world.store.payment(sold.confirmed.payment_id, fan.id).await.unwrap().unwrap();
    assert_eq!((payment.status, payment.amount), (PaymentStatus::Captured, won(amount)));
    let steps: Vec<PaymentStatus> = payment.history.iter().map(|step| step.status).collect();
    assert_eq!(steps, [PaymentStatus::Ready, PaymentStatus::Captured]);
    let tickets = world.store.tickets_of(fan.id, ALL).await.unwrap();
    let mut numbers: Vec<&str> = tickets.iter().map(|ticket| &*ticket.seat_number).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, ["A-10", "B-1"]);
    assert_ne!(tickets[0].code, tickets[1].code);
    let booked = &sold.confirmed.reservation.booking_number;
    assert!(tickets.iter().all(|ticket| ticket.booking_number == *booked), "{booked}");
    assert_eq!(world.status(&fan, reservation).await, ReservationStatus::Confirmed);
    let found = world.store.payment_of(reservation, fan.id).await.unwrap();
    assert_eq!(found, Some(sold.confirmed.payment_id));
    world.finish().await;
}

#[tokio::test]
async fn a_purchase_ends_the_entry_and_its_messages_are_in_order() {
    let world = World::new().await;
    let fan = world.fan().await;
    let sold = world.buy(&fan, &[0], at(1)).await;
    assert_eq!(world.store.live_entries(world.schedule, at(2)).await.unwrap(), []);
    assert_eq!(refusal(world.hold(&fan, &[1], at(2)).await), Refusal::EntryExpired);
    let told = world.told(sold.confirmed.reservation.id.uuid()).await;
    let all = [MessageKind::ReservationHeld, MessageKind::ReservationConfirmed];
    assert_eq!(told, all, "choosing to pay at once needs no more time");
    world.finish().await;
}

#[tokio::test]
async fn a_wallet_with_too_little_changes_nothing() {
    let world = World::new().await;
    let fan = world.fan().await;
    world.charge(&fan, FAR - 1).await;
    let held = world.hold(&fan, &[10], at(1)).await.unwrap();
    let wallet = PaymentMethod::Wallet;
    let ready = world.request(&fan, held.reservation_id, wallet, at(1)).await.unwrap();
    let command = world.confirm_command(&fan, &ready, at(2));
    let told = refusal(world.store.confirm_payment(command.clone()).await);
    assert_eq!(told, Refusal::PaymentDeclined { reason: "INSUFFICIENT_BALANCE".into() });
    assert_eq!(world.store.balance(fan.id).await.unwrap(), won(FAR - 1));
    assert_eq!(world.status(&fan, held.reservation_id).await, ReservationStatus::Held);
    let payment = world.store.payment(ready.payment_id, fan.id).await.unwrap().unwrap();
    assert_eq!(payment.status, PaymentStatus::Ready);
    // With one more won the same key can try again.
    world.charge(&fan, 1).await;
    fresh(world.store.confirm_payment(command).await.unwrap());
    assert_eq!(world.store.balance(fan.id).await.unwrap(), Won::ZERO);
    world.finish().await;
}

#[tokio::test]
async fn a_purchase_is_replayed_byte_for_byte_and_paid_once() {
    let world = World::new().await;
    let fan = world.fan().await;
    world.charge(&fan, 1_000_000).await;
    let held = world.hold(&fan, &[0], at(1)).await.unwrap();
    let wallet = PaymentMethod::Wallet;
    let ready = world.request(&fan, held.reservation_id, wallet, at(1)).await.unwrap();
    let command = world.confirm_command(&fan, &ready, at(2));
    let Capture::Sold(sold) = fresh(world.store.confirm_payment(command.clone()).await.unwrap())
    else {
        panic!("a wallet asks no gateway");
    };
    let Idempotent::Replay(answer) = world.store.confirm_payment(command.clone()).await.unwrap()
    else {
        panic!("paid twice");
    };
    assert_eq!(answer.body, serde_json::to_string(&sold.confirmed).unwrap());
    let other_key = world.confirm(&fan, &ready, at(3)).await;
    assert_eq!(refusal(other_key), Refusal::AlreadyPaid);
    assert_eq!(world.store.balance(fan.id).await.unwrap(), won(1_000_000 - NEAR));
    world.finish().await;
}

#[tokio::test]
async fn a_confirm_call_must_be_the_owners_and_name_the_right_amount() {
    let world = World::new().await;
    let (fan, other) = (world.fan().await, world.fan().await);
    let held = world.hold(&fan, &[0], at(1)).await.unwrap();
    let card = PaymentMethod::Card;
    let ready = world.request(&fan, held.reservation_id, card, at(1)).await.unwrap();
    assert_eq!(refusal(world.confirm(&other, &ready, at(2)).await), Refusal::NotFound);
    let command = ConfirmPayment { amount: won(1), ..world.confirm_command(&fan, &ready, at(2)) };
    let told = refusal(world.store.confirm_payment(command).await);
    assert_eq!(told, Refusal::AmountMismatch);
    let command =
        ConfirmPayment { payment_key: None, ..world.confirm_command(&fan, &ready, at(2)) };
    let told = refusal(world.store.confirm_payment(command).await);
    assert_eq!(told, Refusal::PaymentKeyMissing);
    assert_eq!(world.status(&fan, held.reservation_id).await, ReservationStatus::Held);
    world.finish().await;
}

#[tokio::test]
async fn an_expired_hold_cannot_be_paid() {
    let world = World::new().await;
    let fan = world.fan().await;
    world.charge(&fan, 1_000_000).await;
    let held = world.hold(&fan, &[0], at(1)).await.unwrap();
    let wallet = PaymentMethod::Wallet;
    let ready = world.request(&fan, held.reservation_id, wallet, at(1)).await.unwrap();
    let over = ready.hold_expires_at;
    assert_eq!(refusal(world.confirm(&fan, &ready, over).await), Refusal::HoldOver);
    let again = world.request(&fan, held.reservation_id, wallet, over).await;
    assert_eq!(refusal(again), Refusal::HoldOver);
    world.store.expire_holds(over, 10).await.unwrap();
    assert_eq!(refusal(world.confirm(&fan, &ready, over).await), Refusal::PaymentOver);
    world.finish().await;
}

#[tokio::test]
async fn going_to_pay_gives_the_time_for_it_once() {
    let world = World::new().await;
    let fan = world.fan().await;
    let held = world.hold(&fan, &[0], at(0)).await.unwrap();
    let (reservation, card) = (held.reservation_id, PaymentMethod::Card);
    let first = world.request(&fan, reservation, card, at(200)).await.unwrap();
    assert_eq!(first.hold_expires_at, at(200).plus(PAYMENT_WINDOW));
    let second = world.request(&fan, reservation, card, at(400)).await.unwrap();
    assert_eq!(second.hold_expires_at, first.hold_expires_at);
    let other = world.fan().await;
    refusal(world.hold(&other, &[0], at(499)).await);
    world.hold(&other, &[0], at(500)).await.unwrap();
    world.finish().await;
}

#[tokio::test]
async fn choosing_another_way_to_pay_replaces_the_first() {
    let world = World::new().await;
    let fan = world.fan().await;
    world.charge(&fan, 1_000_000).await;
    let held = world.hold(&fan, &[0], at(1)).await.unwrap();
    let reservation = held.reservation_id;
    let card = world.request(&fan, reservation, PaymentMethod::Card, at(2)).await.unwrap();
    let wallet = world.request(&fan, reservation, PaymentMethod::Wallet, at(3)).await.unwrap();
    let replaced = world.store.payment(card.payment_id, fan.id).await.unwrap().unwrap();
    assert_eq!(replaced.status, PaymentStatus::Canceled);
    assert_eq!(refusal(world.confirm(&fan, &card, at(4)).await), Refusal::PaymentOver);
    world.confirm(&fan, &wallet, at(4)).await.unwrap();
    world.finish().await;
}

#[tokio::test]
async fn a_card_payment_keeps_the_seats_and_its_key_runs() {
    let world = World::new().await;
    let fan = world.fan().await;
    let held = world.hold(&fan, &[0], at(1)).await.unwrap();
    let card = PaymentMethod::Card;
    let ready = world.request(&fan, held.reservation_id, card, at(1)).await.unwrap();
    let command = world.confirm_command(&fan, &ready, at(2));
    let Capture::Ask(ask) = fresh(world.store.confirm_payment(command.clone()).await.unwrap())
    else {
        panic!("sold before the gateway was asked");
    };
    assert_eq!((ask.gateway.as_str(), ask.amount), ("sandbox", ready.amount));
    assert_eq!(ask.payment_key.as_deref(), Some("approval"));
    assert_eq!(world.status(&fan, held.reservation_id).await, ReservationStatus::Paying);
    let again = refusal(world.store.confirm_payment(command.clone()).await);
    assert_eq!(again, Refusal::KeyRunning);
    assert_eq!(refusal(world.store.stored_answer(&command.key).await), Refusal::KeyRunning);
    assert_eq!(refusal(world.confirm(&fan, &ready, at(3)).await), Refusal::PaymentRunning);
    let other_way = world.request(&fan, held.reservation_id, PaymentMethod::Wallet, at(3)).await;
    assert_eq!(refusal(other_way), Refusal::PaymentRunning);
    world.finish().await;
}

#[tokio::test]
async fn unsettled_payments_are_taken_by_one_node_at_a_time() {
    let world = World::new().await;
    let (fan, other) = (world.fan().await, world.fan().await);
    let (_, ready) = world.start_paying(&fan, &[0], at(0)).await;
    world.start_paying(&other, &[1], at(30)).await;
    let ask = async |before: Timestamp, now| {
        let taken = world.store.take_unsettled(before, now, 10).await.unwrap();
        taken.iter().map(|unsettled| unsettled.ask.payment).collect::<Vec<_>>()
    };
    assert_eq!(ask(at(0), at(60)).await, [ready.payment_id]);
    assert_eq!(ask(at(0), at(60)).await, [], "another node has just asked");
    assert_eq!(ask(at(60), at(120)).await.len(), 2);
    world.finish().await;
}

/// A suspended node may date its request minutes back. The time until a payment is voided counts
/// from the first query, because the charge may still be on its way to the gateway.
#[tokio::test]
async fn the_age_of_an_unsettled_payment_counts_from_the_first_query() {
    let world = World::new().await;
    let fan = world.fan().await;
    world.start_paying(&fan, &[0], at(0)).await;
    let mut first_asked_at = Vec::new();
    for now in [at(300), at(310)] {
        let taken =
            world.store.take_unsettled(now.minus(Duration::from_secs(5)), now, 10).await.unwrap();
        first_asked_at.extend(taken.iter().map(|unsettled| unsettled.first_asked_at));
    }
    assert_eq!(first_asked_at, [at(300), at(300)]);
    world.finish().await;
}

#[tokio::test]
async fn a_wallet_pays_in_one_step_or_not_at_all() {
    let world = World::new().await;
    let fan = world.fan().await;
    let held = world.hold(&fan, &[0, 1], at(1)).await.unwrap();
    let pay = |amount, now| PayFromWallet {
        key: world.key(&fan, "payment/wallet"),
        payment: PaymentId::new(world.id()),
        reservation: held.reservation_id,
        user: fan.id,
        amount,
        now,
    };
    let refused = refusal(world.store.pay_from_wallet(pay(held.amount, at(2))).await);
    assert!(matches!(refused, Refusal::PaymentDeclined { .. }), "{refused:?}");
    world.charge(&fan, held.amount.get()).await;
    let refused = refusal(world.store.pay_from_wallet(pay(won(1), at(2))).await);
    assert_eq!(refused, Refusal::AmountMismatch);
    // A second tab prepared the same payment; only one of the two can sell the seats.
    let ready = world.request(&fan, held.reservation_id, PaymentMethod::Wallet, at(3)).await;
    let ready = ready.unwrap();
    let at_once = world.store.pay_from_wallet(pay(held.amount, at(4)));
    let (at_once, confirmed) = join(at_once, world.confirm(&fan, &ready, at(4))).await;
    assert_eq!(usize::from(at_once.is_ok()) + usize::from(confirmed.is_ok()), 1);
    assert_eq!(world.status(&fan, held.reservation_id).await, ReservationStatus::Confirmed);
    assert_eq!(
        refusal(world.store.pay_from_wallet(pay(held.amount, at(5))).await),
        Refusal::AlreadyPaid
    );
    world.finish().await;
}

#[tokio::test]
async fn fans_see_only_their_own_payments() {
    let world = World::new().await;
    let (fan, other) = (world.fan().await, world.fan().await);
    let sold = world.buy(&fan, &[0], at(1)).await;
    let (payment, ticket) = (sold.confirmed.payment_id, sold.confirmed.tickets[0].id);
    let reservation = sold.confirmed.reservation.id;
    assert_eq!(world.store.payment(payment, other.id).await.unwrap(), None);
    assert_eq!(world.store.payment_of(reservation, other.id).await.unwrap(), None);
    assert_eq!(world.store.ticket(ticket, other.id).await.unwrap(), None);
    assert!(world.store.ticket(ticket, fan.id).await.unwrap().is_some());
    assert_eq!(world.store.reservation(reservation, other.id).await.unwrap(), None);
    assert_eq!(world.store.reservations_of(other.id, ALL).await.unwrap(), []);
    assert_eq!(world.store.reservations_of(fan.id, ALL).await.unwrap().len(), 1);
    world.finish().await;
}

#[tokio::test]
async fn reservations_and_tickets_come_newest_first_in_pages() {
    let world = World::new().await;
    let fan = world.fan().await;
    let mut booked = Vec::new();
    for seat in 0..3 {
        let entry = world.entry(world.number());
        let sold = world.buy(&Fan { entry, ..fan }, &[seat], at(1)).await;
        booked.push(sold.confirmed.reservation.id);
    }
    booked.reverse();
    let ask = PageRequest { limit: 1, after: Some(booked[0].uuid()) };
    let rows = world.store.reservations_of(fan.id, ask).await.unwrap();
    let ids: Vec<_> = rows.iter().map(|row| row.id).collect();
    assert_eq!(ids, booked[1..], "one more than the limit, behind the cursor");
    let tickets = world.store.tickets_of(fan.id, ALL).await.unwrap();
    let of: Vec<_> = tickets.iter().map(|ticket| ticket.reservation_id).collect();
    assert_eq!(of, booked);
    world.finish().await;
}
