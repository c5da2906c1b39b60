//! A date that is canceled during a purchase: no payment for it is kept.

use crate::world::{FAR, Fan, World, at, fresh, refusal, won};
use podo_app::booking::port::reservations::{Held, Reservations};
use podo_app::catalog::port::{CancelSchedule, Catalog};
use podo_app::payments::port::payments::Payments;
use podo_app::payments::port::refunds::Refunds;
use podo_app::payments::port::wallets::Wallets;
use podo_domain::booking::reservations::ReservationStatus;
use podo_domain::payments::PaymentMethod;
use podo_domain::{RefundId, Refusal};
use std::time::Duration;
use tokio_postgres::{Client, NoTls};

/// A connection beside the store's, as another process would have it.
#[expect(clippy::disallowed_methods, reason = "a test's connection ends with the test")]
async fn connect(world: &World) -> Client {
    let url = world.engine.url();
    let (client, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

/// Waits until a command of the store waits for a lock.
async fn until_blocked(watcher: &Client) {
    let sql = "select count(*) from pg_stat_activity
                where datname = current_database() and wait_event_type = 'Lock'";
    for _ in 0..500 {
        let row = watcher.query_one(sql, &[]).await.unwrap();
        if row.get::<_, i64>(0) > 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("nothing waits for a lock");
}

async fn call_off(world: &World) {
    let command = CancelSchedule { actor: world.admin, schedule: world.schedule, now: at(10) };
    world.store.cancel_schedule(command).await.unwrap();
}

/// Refunds what can be refunded. Returns whether the run is over.
async fn refund_all(world: &World, now: i64) -> bool {
    for schedule in world.store.runs_to_do(at(now)).await.unwrap() {
        for id in world.store.to_refund(schedule, at(9_999), 100).await.unwrap() {
            let refund = RefundId::new(world.id());
            world.store.refund_canceled(id, refund, at(now)).await.unwrap().unwrap();
        }
        world.store.finish_run(schedule, at(now)).await.unwrap();
    }
    world.store.refund_run(world.schedule).await.unwrap().unwrap().is_done
}

/// A command that passed every check before the date was canceled takes seat 20 after the refunds
/// of the date were done.
async fn hold_too_late(world: &World, fan: &Fan) -> Held {
    let (other, watcher) = (connect(world).await, connect(world).await);
    let lock = "select 1 from event_service.seats where seat_index = 20 for update";
    other.batch_execute(&format!("begin; {lock}")).await.unwrap();
    let command = world.hold_command(fan, &[20], at(9));
    let hold = world.store.hold_seats(command);
    let meanwhile = async {
        until_blocked(&watcher).await;
        call_off(world).await;
        assert!(refund_all(world, 11).await, "everyone else is refunded");
        other.batch_execute("rollback").await.unwrap();
    };
    fresh(tokio::join!(hold, meanwhile).0.unwrap())
}

#[tokio::test]
async fn a_hold_that_waited_while_the_date_was_called_off_cannot_be_paid() {
    let world = World::new().await;
    let (first, fan) = (world.fan().await, world.fan().await);
    world.buy(&first, &[0], at(1)).await;
    world.charge(&fan, 1_000_000).await;
    let held = hold_too_late(&world, &fan).await;
    for method in [PaymentMethod::Wallet, PaymentMethod::Card] {
        let told = world.request(&fan, held.reservation_id, method, at(12)).await;
        assert_eq!(refusal(told), Refusal::ScheduleCanceled, "{method:?}");
    }
    assert_eq!(world.store.balance(fan.id).await.unwrap(), won(1_000_000));
    assert!(!refund_all(&world, 13).await, "the run continues while a seat is active");
    let freed = world.store.expire_holds(at(3_000), 10).await.unwrap();
    assert_eq!(freed.len(), 1);
    assert!(refund_all(&world, 3_001).await);
    world.finish().await;
}

/// The confirmation read an uncanceled date, and sells after the cancellation.
#[tokio::test]
async fn a_purchase_that_waited_while_the_date_was_called_off_is_refunded() {
    let world = World::new().await;
    let fan = world.fan().await;
    world.charge(&fan, 1_000_000).await;
    let held = world.hold(&fan, &[20], at(1)).await.unwrap();
    let wallet = PaymentMethod::Wallet;
    let ready = world.request(&fan, held.reservation_id, wallet, at(2)).await.unwrap();
    let (other, watcher) = (connect(&world).await, connect(&world).await);
    let lock = "select 1 from payment_service.wallets for update";
    other.batch_execute(&format!("begin; {lock}")).await.unwrap();
    let meanwhile = async {
        until_blocked(&watcher).await;
        call_off(&world).await;
        assert!(!refund_all(&world, 11).await, "a seat is active");
        other.batch_execute("rollback").await.unwrap();
    };
    let (confirmed, ()) = tokio::join!(world.confirm(&fan, &ready, at(9)), meanwhile);
    confirmed.unwrap();
    assert_eq!(world.store.balance(fan.id).await.unwrap(), won(1_000_000 - FAR));
    assert!(refund_all(&world, 12).await);
    assert_eq!(world.store.balance(fan.id).await.unwrap(), won(1_000_000));
    assert_eq!(world.status(&fan, held.reservation_id).await, ReservationStatus::Canceled);
    world.finish().await;
}

/// The worst possible result of a race: sold, with the date's run already over.
#[tokio::test]
async fn a_finished_run_is_opened_again_for_a_seat_that_was_sold_meanwhile() {
    let world = World::new().await;
    let (first, fan) = (world.fan().await, world.fan().await);
    world.buy(&first, &[0], at(1)).await;
    world.charge(&fan, 1_000_000).await;
    let held = hold_too_late(&world, &fan).await;
    // As if the request and the confirmation had passed their checks earlier, too.
    let raw = connect(&world).await;
    let takes_place = "update event_service.event_schedules set status = 'UPCOMING'";
    raw.batch_execute(takes_place).await.unwrap();
    let wallet = PaymentMethod::Wallet;
    let ready = world.request(&fan, held.reservation_id, wallet, at(12)).await.unwrap();
    world.confirm(&fan, &ready, at(13)).await.unwrap();
    call_off(&world).await;
    assert!(refund_all(&world, 14).await);
    let run = world.store.refund_run(world.schedule).await.unwrap().unwrap();
    assert_eq!((run.reservations, run.refunded), (2, 2));
    assert_eq!(world.store.balance(fan.id).await.unwrap(), won(1_000_000));
    let view = world.store.payment(ready.payment_id, fan.id).await.unwrap().unwrap();
    assert_eq!(view.refunded, ready.amount);
    world.finish().await;
}
