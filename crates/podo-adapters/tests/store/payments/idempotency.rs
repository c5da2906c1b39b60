//! The same key is executed once and gives the same answer, byte for byte.

use crate::world::{World, at, fresh, refusal, won};
use futures::future::join_all;
use podo_app::booking::port::reservations::{Held, HoldSeats, Reservations};
use podo_app::operations::port::idempotency::{
    IdempotencyKey, IdempotencyKeys, Idempotent, StoredAnswer,
};
use podo_app::payments::port::payments::{ConfirmPayment, Payments};
use podo_app::payments::port::wallets::{AdjustWallet, ChargeWallet, Wallets};
use podo_domain::payments::PaymentMethod;
use podo_domain::{LedgerId, Refusal, ReservationId};

fn replayed<T: std::fmt::Debug>(once: Idempotent<T>) -> StoredAnswer {
    match once {
        Idempotent::Replay(answer) => answer,
        Idempotent::Fresh(done) => panic!("done again: {done:?}"),
    }
}

fn body_of(held: &Held) -> StoredAnswer {
    StoredAnswer { status: 201, body: serde_json::to_string(held).unwrap() }
}

#[tokio::test]
async fn the_same_key_replays_the_first_answer_byte_for_byte() {
    let world = World::new().await;
    let fan = world.fan().await;
    let command = world.hold_command(&fan, &[0, 1], at(1));
    let held = fresh(world.store.hold_seats(command.clone()).await.unwrap());
    // A client that retries sends a new command under the same key, at a later time.
    let reservation = ReservationId::new(world.id());
    let again = HoldSeats { reservation, now: at(9_999), ..command.clone() };
    assert_eq!(replayed(world.store.hold_seats(again).await.unwrap()), body_of(&held));
    let stored = world.store.stored_answer(&command.key).await.unwrap();
    assert_eq!(stored, Some(body_of(&held)));
    world.finish().await;
}

#[tokio::test]
async fn fifty_retries_at_once_do_it_once() {
    let world = World::new().await;
    let fan = world.fan().await;
    let command = ChargeWallet {
        key: world.key(&fan, "wallet/charge"),
        user: fan.id,
        ledger: LedgerId::new(world.id()),
        amount: won(5_000),
        currency: podo_domain::Currency::Krw,
        now: at(1),
    };
    let answers =
        join_all((0..50).map(|_| world.store.charge_wallet(command.clone()))).await.into_iter();
    let n_fresh = answers.filter(|answer| matches!(answer, Ok(Idempotent::Fresh(_)))).count();
    assert_eq!(n_fresh, 1);
    assert_eq!(world.store.balance(fan.id).await.unwrap(), won(5_000));
    world.finish().await;
}

#[tokio::test]
async fn another_body_under_the_same_key_is_refused() {
    let world = World::new().await;
    let fan = world.fan().await;
    let command = world.hold_command(&fan, &[0], at(1));
    fresh(world.store.hold_seats(command.clone()).await.unwrap());
    let other_body = IdempotencyKey { fingerprint: [8; 32], ..command.key.clone() };
    let told = refusal(world.store.stored_answer(&other_body).await);
    assert_eq!(told, Refusal::KeyReused);
    let command = HoldSeats { key: other_body, ..world.hold_command(&fan, &[1], at(2)) };
    assert_eq!(refusal(world.store.hold_seats(command).await), Refusal::KeyReused);
    world.finish().await;
}

#[tokio::test]
async fn keys_of_two_fans_or_two_endpoints_have_nothing_in_common() {
    let world = World::new().await;
    let (fan, other) = (world.fan().await, world.fan().await);
    let first = world.hold_command(&fan, &[0], at(1));
    fresh(world.store.hold_seats(first.clone()).await.unwrap());
    let same_word = IdempotencyKey { user: other.id, fingerprint: [8; 32], ..first.key.clone() };
    let command = HoldSeats { key: same_word, ..world.hold_command(&other, &[1], at(1)) };
    fresh(world.store.hold_seats(command).await.unwrap());
    let elsewhere = IdempotencyKey { endpoint: "wallet/charge", ..first.key };
    assert_eq!(world.store.stored_answer(&elsewhere).await.unwrap(), None);
    world.finish().await;
}

#[tokio::test]
async fn the_key_of_a_refused_command_stays_free() {
    let world = World::new().await;
    let (first, second) = (world.fan().await, world.fan().await);
    world.hold(&first, &[0], at(1)).await.unwrap();
    let command = world.hold_command(&second, &[0], at(2));
    refusal(world.store.hold_seats(command.clone()).await);
    assert_eq!(world.store.stored_answer(&command.key).await.unwrap(), None);
    let retry = HoldSeats { key: command.key, ..world.hold_command(&second, &[1], at(3)) };
    fresh(world.store.hold_seats(retry).await.unwrap());
    world.finish().await;
}

#[tokio::test]
async fn old_answers_are_forgotten_but_never_one_that_is_awaited() {
    let world = World::new().await;
    let (fan, payer) = (world.fan().await, world.fan().await);
    let old = world.hold_command(&fan, &[0], at(1));
    fresh(world.store.hold_seats(old.clone()).await.unwrap());
    world.start_paying(&payer, &[1], at(2)).await;
    // Deletes two holds. The request's answer belongs to a payment, and the confirm call is still
    // in progress.
    assert_eq!(world.store.forget_keys(at(1), 100).await.unwrap(), 0);
    assert_eq!(world.store.forget_keys(at(3), 1).await.unwrap(), 1);
    assert_eq!(world.store.forget_keys(at(3), 100).await.unwrap(), 1);
    assert_eq!(world.store.forget_keys(at(3), 100).await.unwrap(), 0);
    assert_eq!(world.store.stored_answer(&old.key).await.unwrap(), None);
    world.finish().await;
}

#[tokio::test]
async fn the_keys_of_a_purchase_are_not_forgotten_with_those_of_holds() {
    let world = World::new().await;
    let fan = world.fan().await;
    world.charge(&fan, 1_000_000).await;
    let held = world.hold(&fan, &[0], at(1)).await.unwrap();
    let request = world.request_command(&fan, held.reservation_id, PaymentMethod::Wallet, at(1));
    let ready = fresh(world.store.request_payment(request.clone()).await.unwrap()).ready;
    let confirm = world.confirm_command(&fan, &ready, at(1));
    fresh(world.store.confirm_payment(confirm.clone()).await.unwrap());
    let adjust = AdjustWallet {
        key: IdempotencyKey { user: world.admin, ..world.key(&fan, "admin/wallet") },
        actor: world.admin,
        user: fan.id,
        ledger: LedgerId::new(world.id()),
        amount: 1_000,
        currency: podo_domain::Currency::Krw,
        reason: "sorry".into(),
        now: at(1),
    };
    fresh(world.store.adjust_wallet(adjust.clone()).await.unwrap());
    let forgotten = world.store.forget_keys(at(1_000_000), 100).await.unwrap();
    assert_eq!(forgotten, 1, "the hold");
    for key in [&request.key, &confirm.key, &adjust.key] {
        assert!(world.store.stored_answer(key).await.unwrap().is_some(), "{key:?}");
    }
    let again = ConfirmPayment { now: at(1_000_000), ..confirm };
    let first = world.store.stored_answer(&again.key).await.unwrap().unwrap();
    assert_eq!(replayed(world.store.confirm_payment(again).await.unwrap()), first);
    world.finish().await;
}
