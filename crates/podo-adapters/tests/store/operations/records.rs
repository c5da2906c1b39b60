//! Records of purchases: erased as a whole after their retention period, and not before.

use crate::booking::issued::issue;
use crate::booking::reseat::command as reseat_command;
use crate::payments::refund::cancel_command;
use crate::payments::refund_part::by_organiser;
use crate::world::{Fan, Plan, SALE_S, World, at, fresh, won};
use podo_app::booking::port::issued::IssuedOrders;
use podo_app::booking::port::reseat::Reseats;
use podo_app::booking::port::reservations::Reservations;
use podo_app::catalog::port::{Catalog, CreateSchedule};
use podo_app::identity::support::port::{Support, SupportSubject, TimelineKind, TimelineQuery};
use podo_app::messaging::port::messages::{Consume, Messages, Notification};
use podo_app::operations::port::idempotency::{IdempotencyKey, IdempotencyKeys};
use podo_app::operations::port::records::Records;
use podo_app::payments::port::payments::{Checkout, Payments, SettlePayment};
use podo_app::payments::port::refunds::{RefundByOrganiser, Refunds};
use podo_app::payments::port::sales::{Booked, GradeShare, Sales};
use podo_app::payments::port::wallets::{ConfirmCharge, RequestCharge, SettleCharge, Wallets};
use podo_app::store::PageRequest;
use podo_app::tickets::port::Tickets;
use podo_domain::booking::issued::{Issue, Tender};
use podo_domain::catalog::ScheduleTimes;
use podo_domain::id::SeatIndex;
use podo_domain::payments::{Outcome, PaymentMethod};
use podo_domain::{MessageId, PaymentId, ReservationId, ScheduleId, Timestamp};

const PAGE: PageRequest = PageRequest { limit: 20, after: None };

/// The retention period of everything before this moment is over. The date was over long before.
const BEFORE: Timestamp = Timestamp::from_ms(1_772_362_800_000 + 10 * SALE_S * 1_000);

/// A purchase and the key of its confirmation.
struct Bought {
    fan: Fan,
    reservation: ReservationId,
    payment: PaymentId,
    key: IdempotencyKey,
}

async fn buy(world: &World, seat: SeatIndex) -> Bought {
    let fan = world.fan().await;
    world.charge(&fan, 1_000_000).await;
    let reservation = world.hold(&fan, &[seat], at(1)).await.unwrap().reservation_id;
    let wallet = PaymentMethod::Wallet;
    let ready = world.request(&fan, reservation, wallet, at(1)).await.unwrap();
    let confirm = world.confirm_command(&fan, &ready, at(1));
    let key = confirm.key.clone();
    fresh(world.store.confirm_payment(confirm).await.unwrap());
    Bought { fan, reservation, payment: ready.payment_id, key }
}

/// A charged card with a refund due, which no gateway has made.
async fn refund_due(world: &World, seat: SeatIndex) -> Bought {
    let fan = world.fan().await;
    let (reservation, ready) = world.start_paying(&fan, &[seat], at(1)).await;
    let (payment, outcome) = (ready.payment_id, Outcome::Captured { amount: ready.amount });
    let settle = SettlePayment {
        payment,
        outcome,
        answer: None,
        reference: None,
        paid_with: None,
        now: at(2),
    };
    world.store.settle_payment(settle).await.unwrap();
    let cancel = cancel_command(world, &fan, payment);
    let key = cancel.key.clone();
    fresh(world.store.cancel_payment(cancel).await.unwrap());
    Bought { fan, reservation, payment, key }
}

/// A purchase for a date that isn't over at `BEFORE`.
async fn buy_for_a_later_date(world: &mut World) -> Bought {
    let (schedule, first) = (ScheduleId::with_room_for_seats(world.id()), world.schedule);
    let command = world.schedule_command(schedule, 4);
    let times = ScheduleTimes { ends_at: BEFORE, ..command.times };
    world.store.create_schedule(CreateSchedule { times, ..command }).await.unwrap();
    world.schedule = schedule;
    let bought = buy(world, 0).await;
    world.schedule = first;
    bought
}

/// Whether any trace of it is left, by every query.
async fn is_known(world: &World, bought: &Bought) -> bool {
    let (store, fan) = (&world.store, bought.fan.id);
    let known = [
        store.reservation(bought.reservation, fan).await.unwrap().is_some(),
        store.payment(bought.payment, fan).await.unwrap().is_some(),
        store.stored_answer(&bought.key).await.unwrap().is_some(),
        !store.reservations_of(fan, PAGE).await.unwrap().is_empty(),
    ];
    assert!(known.iter().all(|it| *it == known[0]), "{known:?}");
    known[0]
}

async fn erase(world: &World, reservation: ReservationId) -> bool {
    world.store.erase_reservation(reservation, BEFORE).await.unwrap()
}

#[tokio::test]
async fn old_purchases_are_erased_whole_and_young_or_open_ones_stay() {
    let mut world = World::planned(Plan::default()).await;
    world.engine.let_records_go();
    let (sold, canceled) = (buy(&world, 0).await, buy(&world, 1).await);
    let cancel = cancel_command(&world, &canceled.fan, canceled.payment);
    fresh(world.store.cancel_payment(cancel).await.unwrap());
    let lapsed = world.hold(&world.fan().await, &[2], at(1)).await.unwrap().reservation_id;
    assert_eq!(world.store.expire_holds(at(5_000), 10).await.unwrap().len(), 1);
    // Money moved after `BEFORE`, a refund is still due, the show isn't over.
    let (young, due) = (buy(&world, 3).await, refund_due(&world, 10).await);
    let refund = by_organiser(&world, world.admin, young.payment);
    let refund = RefundByOrganiser { now: BEFORE, ..refund };
    fresh(world.store.refund_by_organiser(refund).await.unwrap());
    let later = buy_for_a_later_date(&mut world).await;
    let store = &world.store;
    let share = GradeShare { grade: "VIP".into(), seats: 1, amount: won(150_000) };
    let (message, schedule) = (MessageId::new(world.id()), world.schedule);
    let reservation = sold.reservation;
    let booked = Booked { message, reservation, schedule, seq: 2, shares: vec![share] };
    store.count_booked("booking", vec![booked], at(2)).await.unwrap();
    let statistics = store.statistics(schedule).await.unwrap();
    let movements = store.movements(sold.fan.id, None, 20).await.unwrap();

    let expected = [sold.reservation, canceled.reservation, lapsed];
    let mut found = store.old_reservations(BEFORE, 100, BEFORE).await.unwrap();
    found.sort_unstable();
    assert_eq!(found, expected);
    assert_eq!(store.old_reservations(BEFORE, 2, BEFORE).await.unwrap(), expected[..2]);
    for reservation in expected {
        assert!(erase(&world, reservation).await);
        assert!(!erase(&world, reservation).await, "there is nothing left");
        world.check_invariants(BEFORE).await;
    }
    for kept in [&young, &due, &later] {
        assert!(!erase(&world, kept.reservation).await);
        assert!(is_known(&world, kept).await);
    }
    for gone in [&sold, &canceled] {
        assert!(!is_known(&world, gone).await);
    }
    assert!(store.tickets_of(sold.fan.id, PAGE).await.unwrap().is_empty());
    assert_eq!(store.old_reservations(BEFORE, 100, BEFORE).await.unwrap(), []);
    assert_eq!(
        store.movements(sold.fan.id, None, 20).await.unwrap(),
        movements,
        "the ledger stays"
    );
    assert_eq!(store.statistics(schedule).await.unwrap(), statistics, "the sums stay");
    world.finish().await;
}

/// A wallet charge in progress, optionally captured.
async fn charge_by_gateway(world: &World, fan: &Fan, is_captured: bool) -> PaymentId {
    let (charge, amount) = (PaymentId::new(world.id()), won(10_000));
    let request = RequestCharge {
        key: world.key(fan, "wallet/charge"),
        charge,
        user: fan.id,
        gateway: "sandbox",
        checkout: Checkout { gateway: Some("sandbox".into()), url: None, data: None },
        amount,
        currency: podo_domain::Currency::Krw,
        now: at(1),
    };
    world.store.request_charge(request).await.unwrap();
    let confirm = ConfirmCharge {
        key: world.key(fan, "wallet/confirm"),
        charge,
        user: fan.id,
        amount,
        payment_key: Some("approval".into()),
        now: at(1),
    };
    world.store.confirm_charge(confirm).await.unwrap();
    if is_captured {
        let outcome = Outcome::Captured { amount };
        let settle = SettleCharge { charge, outcome, answer: None, reference: None, now: at(2) };
        world.store.settle_charge(settle).await.unwrap();
    }
    charge
}

#[tokio::test]
async fn charges_notifications_and_wallet_keys_expire_by_age_and_the_balance_stays() {
    let world = World::new().await;
    world.engine.let_records_go();
    let (fan, store) = (world.fan().await, &world.store);
    let charged = charge_by_gateway(&world, &fan, true).await;
    let open = charge_by_gateway(&world, &fan, false).await;
    let bought = buy(&world, 0).await;
    let notification = Notification {
        user: Some(fan.id),
        reservation: None,
        subject: "Hello".into(),
        body: "Fan".into(),
        created_at: at(1),
    };
    let message = MessageId::new(world.id());
    let (notifications, notices) = (vec![notification], Vec::new());
    let consume =
        Consume { message, consumer: "notifications", notifications, notices, now: at(1) };
    store.consume(vec![consume]).await.unwrap();

    assert_eq!(store.erase_charges(at(-60), 10).await.unwrap(), 0, "all of it is younger");
    assert_eq!(store.erase_notifications(at(-60), 10).await.unwrap(), 0);
    assert_eq!(store.forget_money_keys(at(0), 10).await.unwrap(), 0);
    assert_eq!(store.erase_charges(BEFORE, 10).await.unwrap(), 1);
    assert!(store.charge(charged, fan.id).await.unwrap().is_none());
    assert!(store.charge(open, fan.id).await.unwrap().is_some(), "its outcome is unknown");
    assert_eq!(store.balance(fan.id).await.unwrap(), won(10_000));
    assert_eq!(store.erase_notifications(BEFORE, 10).await.unwrap(), 1);
    assert!(store.mailbox(fan.id, 10).await.unwrap().is_empty());
    // The key of the wallet's own charge; the payment and the open charge keep theirs.
    assert_eq!(store.forget_money_keys(BEFORE, 10).await.unwrap(), 1);
    assert!(store.stored_answer(&bought.key).await.unwrap().is_some());
    assert!(erase(&world, bought.reservation).await);
    assert_eq!(store.forget_money_keys(BEFORE, 10).await.unwrap(), 0, "they went with the payment");
    world.finish().await;
}

/// In either order: the money goes back and the record stays, or there is nothing to refund.
#[tokio::test]
async fn a_refund_and_the_erasure_of_its_payment_at_the_same_moment_leave_no_half() {
    let world = World::new().await;
    world.engine.let_records_go();
    // Far from the stage: one organiser may refund all of this in a day.
    for seat in 10..18 {
        let bought = buy(&world, seat).await;
        let refund = by_organiser(&world, world.admin, bought.payment);
        let refund = RefundByOrganiser { now: BEFORE, ..refund };
        let (refunded, erased) = futures::join!(
            world.store.refund_by_organiser(refund),
            world.store.erase_reservation(bought.reservation, BEFORE)
        );
        let is_erased = erased.unwrap_or(false);
        assert_ne!(refunded.is_ok(), is_erased, "{refunded:?}");
        let is_there =
            world.store.reservation(bought.reservation, bought.fan.id).await.unwrap().is_some();
        assert_ne!(is_there, is_erased);
        world.check_invariants(BEFORE).await;
    }
    world.finish().await;
}

#[tokio::test]
async fn an_order_of_the_desk_is_erased_with_its_customer_and_its_moves() {
    let world = World::planned(Plan::default()).await;
    world.engine.let_records_go();
    let sold = issue(&world, Issue::Sale(Tender::Cash), &[0], at(2)).await.unwrap();
    let found = async || world.store.issued_among(vec![sold.reservation_id]).await.unwrap();
    let moves = async || {
        let asked = TimelineQuery {
            subject: SupportSubject::Booking(sold.reservation_id),
            until: BEFORE,
            limit: 20,
        };
        let entries = world.store.timeline(asked).await.unwrap();
        entries.iter().filter(|it| it.kind == TimelineKind::Reseat).count()
    };
    let command = reseat_command(&world, sold.reservation_id, &[(0, 5)], at(3));
    fresh(world.store.reseat_booking(command).await.unwrap());
    assert_eq!((found().await.len(), moves().await), (1, 1));
    assert!(erase(&world, sold.reservation_id).await);
    assert_eq!((found().await, moves().await), (Vec::new(), 0));
    assert!(world.store.issued_to([1; 32], 10).await.unwrap().is_empty());
    world.check_invariants(BEFORE).await;
    world.finish().await;
}
