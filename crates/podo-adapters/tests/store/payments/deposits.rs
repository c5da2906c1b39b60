//! Virtual accounts: issued, paid to, closed, and refunded to the account of the fan.

use crate::world::{FAR, Fan, World, at, fresh, refusal, won};
use futures::future::join;
use podo_app::Error;
use podo_app::booking::port::reservations::Reservations;
use podo_app::catalog::port::{Catalog, EditEvent};
use podo_app::payments::port::deposits::{Deposits, SetRefundAccount, TakeClosing, TakeWatched};
use podo_app::payments::port::payments::{
    PaymentView, Payments, RequestPayment, SettlePayment, Settled,
};
use podo_domain::booking::reservations::ReservationStatus;
use podo_domain::catalog::EventEdit;
use podo_domain::id::SeatIndex;
use podo_domain::messaging::messages::MessageKind;
use podo_domain::payments::deposits::{
    Awaited, CANCELED, CLOSE_AFTER, EXPIRED, REMIND_BEFORE, VirtualAccount, WATCH_FOR,
};
use podo_domain::payments::{OfferedMethods, Outcome, PaymentMethod, PaymentStatus};
use podo_domain::{Currency, PaymentId, Refusal, ReservationId, Timestamp};
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(3_600);

fn due() -> Timestamp {
    at(0).plus(HOUR * 24)
}

fn awaited(received: i64) -> Outcome {
    let account = VirtualAccount {
        bank: "SHINHAN".into(),
        number: "56211234567890".into(),
        holder: "포도".into(),
        until: None,
    };
    Outcome::AwaitingDeposit(Awaited { account, received: won(received) })
}

fn came(amount: i64) -> Outcome {
    Outcome::Captured { amount: won(amount) }
}

fn closed(reason: &str) -> Outcome {
    Outcome::NotCaptured { reason: reason.to_owned() }
}

async fn settle(world: &World, payment: PaymentId, outcome: Outcome, now: Timestamp) -> Settled {
    try_settle(world, payment, outcome, now).await.unwrap()
}

async fn try_settle(
    world: &World,
    payment: PaymentId,
    outcome: Outcome,
    now: Timestamp,
) -> podo_app::Result<Settled> {
    let (answer, reference, paid_with) = (None, None, None);
    let command = SettlePayment { payment, outcome, answer, reference, paid_with, now };
    world.store.settle_payment(command).await
}

/// Holds the seat and gets an account for it.
pub(crate) async fn issue(world: &World, fan: &Fan, seat: SeatIndex) -> (ReservationId, PaymentId) {
    let held = world.hold(fan, &[seat], at(0)).await.unwrap();
    let command =
        world.request_command(fan, held.reservation_id, PaymentMethod::VirtualAccount, at(1));
    let command = RequestPayment { deposit_due: Some(due()), ..command };
    let ready = fresh(world.store.request_payment(command).await.unwrap()).ready;
    world.confirm(fan, &ready, at(2)).await.unwrap();
    let issued = settle(world, ready.payment_id, awaited(0), at(3)).await;
    assert!(matches!(issued, Settled::Awaiting(_)), "{issued:?}");
    (held.reservation_id, ready.payment_id)
}

async fn view(world: &World, fan: &Fan, payment: PaymentId) -> PaymentView {
    world.store.payment(payment, fan.id).await.unwrap().unwrap()
}

pub(crate) async fn offer(world: &World) {
    let methods = vec![PaymentMethod::VirtualAccount, PaymentMethod::Card, PaymentMethod::Wallet];
    let payment_methods = Some(OfferedMethods::try_from(methods).unwrap());
    let edit = EventEdit { payment_methods, ..EventEdit::default() };
    let (actor, event, home, now) = (world.admin, world.event, Currency::Krw, at(0));
    world.store.edit_event(EditEvent { actor, event, edit, home, now }).await.unwrap();
}

async fn to_close(world: &World, now: Timestamp) -> usize {
    let command = TakeClosing { now, until: now.plus(HOUR), limit: 10 };
    world.store.take_closing(command).await.unwrap().len()
}

#[tokio::test]
async fn an_account_keeps_its_seats_beyond_the_hold_until_the_deposit_buys_them() {
    let world = World::new().await;
    offer(&world).await;
    let fan = world.fan().await;
    let (reservation, payment) = issue(&world, &fan, 10).await;
    let shown = view(&world, &fan, payment).await;
    assert_eq!(shown.status, PaymentStatus::AwaitingDeposit);
    let deposit = shown.deposit.unwrap();
    assert_eq!((deposit.due_at, deposit.amount), (due(), won(FAR)));
    assert_eq!((&*deposit.bank, &*deposit.account_number), ("SHINHAN", "56211234567890"));
    // Hours after the hold, neither the sweeper nor another fan gets the seat.
    let later = at(0).plus(HOUR * 5);
    assert!(world.store.expire_holds(later, 100).await.unwrap().is_empty());
    let other = world.fan().await;
    let taken = world.hold(&other, &[10], at(20)).await;
    let taken = refusal(taken.map(drop));
    assert!(matches!(taken, Refusal::SeatTaken { .. }), "{taken:?}");
    let sold = settle(&world, payment, came(FAR), later).await;
    assert!(matches!(sold, Settled::Sold(_)), "{sold:?}");
    assert_eq!(world.status(&fan, reservation).await, ReservationStatus::Confirmed);
    assert_eq!(to_close(&world, due().plus(CLOSE_AFTER)).await, 0, "it was paid");
    assert_eq!(world.told(payment.uuid()).await, [MessageKind::DepositAwaited]);
    world.finish().await;
}

#[tokio::test]
async fn a_missed_deadline_frees_the_seats_after_the_account_is_closed() {
    let world = World::new().await;
    offer(&world).await;
    let fan = world.fan().await;
    let (reservation, payment) = issue(&world, &fan, 10).await;
    assert_eq!(to_close(&world, due()).await, 0, "the bank may be a little late");
    let over = due().plus(CLOSE_AFTER);
    assert_eq!(to_close(&world, over).await, 1);
    assert_eq!(to_close(&world, over).await, 0, "leased to the first");
    assert_eq!(world.status(&fan, reservation).await, ReservationStatus::Paying);
    let ended = settle(&world, payment, closed(EXPIRED), over).await;
    assert!(
        matches!(&ended, Settled::Declined { freed: Some(freed), .. } if freed.seats == [10]),
        "{ended:?}"
    );
    assert_eq!(world.status(&fan, reservation).await, ReservationStatus::Expired);
    assert_eq!(view(&world, &fan, payment).await.status, PaymentStatus::Canceled);
    let told = world.told(payment.uuid()).await;
    assert_eq!(told, [MessageKind::DepositAwaited, MessageKind::DepositMissed]);
    // The money came all the same: it goes back.
    let late = settle(&world, payment, came(FAR), over.plus(HOUR)).await;
    assert!(matches!(late, Settled::RefundDue { freed: None, .. }), "{late:?}");
    assert_eq!(view(&world, &fan, payment).await.status, PaymentStatus::RefundDue);
    world.finish().await;
}

#[tokio::test]
async fn of_a_deposit_and_its_deadline_at_once_one_wins_and_no_won_is_lost() {
    for turn in 0..8 {
        let world = World::new().await;
        offer(&world).await;
        let fan = world.fan().await;
        let (reservation, payment) = issue(&world, &fan, 10).await;
        let over = due().plus(CLOSE_AFTER);
        let deposit = async {
            if turn % 2 == 0 {
                tokio::task::yield_now().await;
            }
            insist(&world, payment, came(FAR), over).await;
        };
        let deadline = insist(&world, payment, closed(EXPIRED), over);
        join(deposit, deadline).await;
        let shown = view(&world, &fan, payment).await;
        let ends = (world.status(&fan, reservation).await, shown.status);
        let sold = (ReservationStatus::Confirmed, PaymentStatus::Captured);
        let freed = (ReservationStatus::Expired, PaymentStatus::RefundDue);
        assert!(ends == sold || ends == freed, "{ends:?}");
        world.finish().await;
    }
}

/// Repeats what a concurrent command disturbed, as jobs and webhooks do.
async fn insist(world: &World, payment: PaymentId, outcome: Outcome, now: Timestamp) {
    loop {
        match try_settle(world, payment, outcome.clone(), now).await {
            Ok(_) => return,
            Err(Error::Conflict(_) | Error::Unavailable(_)) => tokio::task::yield_now().await,
            Err(error) => panic!("{error}"),
        }
    }
}

#[tokio::test]
async fn too_much_and_twice_is_owed_back_and_waits_for_an_account() {
    let world = World::new().await;
    offer(&world).await;
    let fan = world.fan().await;
    let (reservation, payment) = issue(&world, &fan, 10).await;
    settle(&world, payment, awaited(FAR - 10), at(60)).await;
    let part = view(&world, &fan, payment).await;
    assert_eq!(part.deposit.unwrap().received, won(FAR - 10));
    settle(&world, payment, came(FAR + 500), at(70)).await;
    assert_eq!(world.status(&fan, reservation).await, ReservationStatus::Confirmed);
    settle(&world, payment, came(2 * FAR + 500), at(80)).await;
    settle(&world, payment, came(2 * FAR + 500), at(90)).await;
    let shown = view(&world, &fan, payment).await;
    let owed: Vec<_> = shown.refunds.iter().map(|refund| refund.amount).collect();
    assert_eq!(owed, [won(500), won(FAR)], "each once");
    let due = world.store.take_due_refunds(at(100), at(200), 10).await.unwrap();
    assert!(due.is_empty(), "nothing is sent without an account");
    assert!(world.store.refund_account(payment, fan.id).await.unwrap().is_needed);
    let stranger = world.fan().await;
    let denied = world.store.refund_account(payment, stranger.id).await;
    assert_eq!(refusal(denied.map(drop)), Refusal::NotFound);
    let (user, account, now) = (fan.id, vec![1, 2, 3], at(110));
    world.store.set_refund_account(SetRefundAccount { payment, user, account, now }).await.unwrap();
    let due = world.store.take_due_refunds(at(120), at(200), 10).await.unwrap();
    let sent: Vec<_> = due.iter().map(|refund| (refund.amount, refund.account.clone())).collect();
    assert_eq!(sent, [(won(500), Some(vec![1, 2, 3]))], "in their order");
    world.finish().await;
}

#[tokio::test]
async fn a_fan_gives_the_order_up_and_a_canceled_date_does() {
    let world = World::new().await;
    offer(&world).await;
    let (fan, stranger) = (world.fan().await, world.fan().await);
    let (reservation, payment) = issue(&world, &fan, 10).await;
    let denied = world.store.cancel_deposit(payment, stranger.id, at(10)).await;
    assert_eq!(refusal(denied.map(drop)), Refusal::NotFound);
    let closing = world.store.cancel_deposit(payment, fan.id, at(10)).await.unwrap();
    assert_eq!(closing.reason, CANCELED);
    assert!(view(&world, &fan, payment).await.deposit.unwrap().is_closing);
    // The process dies before the gateway closes it: the job goes on.
    assert_eq!(to_close(&world, at(10).plus(Duration::from_secs(60))).await, 1);
    settle(&world, payment, closed(CANCELED), at(100)).await;
    assert_eq!(world.status(&fan, reservation).await, ReservationStatus::Canceled);
    let again = world.store.cancel_deposit(payment, fan.id, at(110)).await;
    assert_eq!(refusal(again.map(drop)), Refusal::PaymentOver);
    world.finish().await;
}

#[tokio::test]
async fn a_gateway_is_asked_while_money_may_come_and_the_fan_is_reminded_once() {
    let world = World::new().await;
    offer(&world).await;
    let fan = world.fan().await;
    let (_, payment) = issue(&world, &fan, 10).await;
    let ask = async |now: Timestamp| {
        let (again_at, later_at) = (now.plus(HOUR), now.plus(HOUR));
        let command = TakeWatched { now, again_at, later_at, limit: 10 };
        world.store.take_watched(command).await.unwrap().len()
    };
    assert_eq!(ask(at(10)).await, 0);
    assert_eq!(ask(at(700)).await, 1);
    assert_eq!(ask(at(710)).await, 0, "not before the next time");
    let remind = async |now: Timestamp| {
        world.store.remind_depositors(now, now.plus(HOUR * 72), 10).await.unwrap()
    };
    let soon = due().minus(REMIND_BEFORE);
    assert_eq!(remind(soon.minus(Duration::from_secs(1))).await, 0);
    assert_eq!((remind(soon).await, remind(soon).await), (1, 0));
    let told = world.told(payment.uuid()).await;
    assert_eq!(told, [MessageKind::DepositAwaited, MessageKind::DepositReminder]);
    settle(&world, payment, closed(EXPIRED), due().plus(CLOSE_AFTER)).await;
    assert_eq!(ask(due().plus(HOUR * 2)).await, 1, "it may still come");
    let last = due().plus(WATCH_FOR);
    assert_eq!((ask(last).await, ask(last.plus(HOUR * 9)).await), (1, 0));
    world.finish().await;
}
