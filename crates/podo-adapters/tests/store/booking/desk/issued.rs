//! Orders of the box office: kept or free seats, tickets at once, and refunds at the desk.

use crate::booking::allocations::{create, release};
use crate::world::{Plan, World, at, fresh, refusal, won};
use podo_app::Result;
use podo_app::booking::port::allocations::Allocations;
use podo_app::booking::port::issued::{CashUpQuery, IssueOrder, IssuedOrder, IssuedOrders};
use podo_app::catalog::port::{Catalog, EditEvent};
use podo_app::operations::port::idempotency::{IdempotencyKey, Idempotent};
use podo_app::payments::port::payments::{CancelPayment, Payments};
use podo_app::payments::port::refunds::{OrganiserRefund, RefundByOrganiser, Refunds};
use podo_app::store::PageRequest;
use podo_domain::booking::issued::{Channel, Issue, Tender};
use podo_domain::booking::seats::{SeatPick, SeatState};
use podo_domain::catalog::EventEdit;
use podo_domain::id::SeatIndex;
use podo_domain::payments::refunds::RefundTo;
use podo_domain::payments::{OfferedMethods, PaymentMethod, PaymentStatus};
use podo_domain::{Currency, PaymentId, RefundId, Refusal, ReservationId, Timestamp};

const PAGE: PageRequest = PageRequest { limit: 10, after: None };

fn key(world: &World, endpoint: &'static str) -> IdempotencyKey {
    let key = format!("desk-{}", world.number());
    IdempotencyKey { user: world.admin, endpoint, key, fingerprint: [7; 32] }
}

fn command(world: &World, issue: Issue, seats: &[SeatIndex], now: Timestamp) -> IssueOrder {
    let seats: Vec<_> = seats.iter().map(|index| world.schedule.seat(*index)).collect();
    IssueOrder {
        key: key(world, "admin/issue"),
        actor: world.admin,
        reservation: ReservationId::new(world.id()),
        payment: PaymentId::new(world.id()),
        pick: SeatPick::new(world.schedule, &seats).unwrap(),
        types: seats.iter().map(|seat| (*seat, None)).collect(),
        issue,
        name: b"sealed name".to_vec(),
        phone: None,
        note: Some(b"sealed note".to_vec()),
        lookups: vec![[1; 32], [2; 32]],
        now,
    }
}

fn to_euros(world: &World, now: Timestamp) -> EditEvent {
    let methods = OfferedMethods::only(PaymentMethod::Card);
    let edit = EventEdit {
        currency: Some(Currency::Eur),
        payment_methods: Some(methods),
        ..EventEdit::default()
    };
    EditEvent { actor: world.admin, event: world.event, edit, home: Currency::Krw, now }
}

/// The desk sells before the sale opens: from then on the currency stays.
#[tokio::test]
async fn what_the_desk_sold_before_the_sale_fixes_the_currency() {
    let world = World::new().await;
    world.store.edit_event(to_euros(&world, at(-10))).await.unwrap();
    let sold = issue(&world, CASH, &[0], at(-9)).await.unwrap();
    assert_eq!(sold.currency, Currency::Eur);
    assert_eq!(sold.amount, won(sold.seats[0].price.get()));
    let back = EventEdit { currency: Some(Currency::Krw), ..EventEdit::default() };
    let command = EditEvent { edit: back, ..to_euros(&world, at(-8)) };
    assert_eq!(refusal(world.store.edit_event(command).await), Refusal::CurrencyFixed);
    world.finish().await;
}

const CASH: Issue = Issue::Sale(Tender::Cash);

pub(crate) async fn issue(
    world: &World,
    issue: Issue,
    seats: &[SeatIndex],
    now: Timestamp,
) -> Result<IssuedOrder> {
    let issued = world.store.issue_order(command(world, issue, seats, now)).await;
    issued.map(|answer| fresh(answer).0)
}

async fn state(world: &World, index: usize) -> SeatState {
    world.store.seats_of(world.schedule).await.unwrap()[index].state
}

async fn refund(world: &World, payment: PaymentId, seats: &[SeatIndex]) -> OrganiserRefund {
    let command = RefundByOrganiser {
        key: key(world, "admin/refund"),
        actor: world.admin,
        payment,
        refund: RefundId::new(world.id()),
        seats: seats.iter().map(|index| world.schedule.seat(*index)).collect(),
        fee_percent: 0,
        refunds_fees: None,
        reason: "At the desk".to_owned(),
        to: RefundTo::Wallet,
        now: at(20),
    };
    fresh(world.store.refund_by_organiser(command).await.unwrap())
}

#[tokio::test]
async fn the_desk_sells_free_and_kept_seats_and_the_tickets_are_valid_at_once() {
    let world = World::new().await;
    let made = create(&world, "Box office", &[0, 1]).await;
    let sold = issue(&world, CASH, &[0, 10], at(2)).await.unwrap();
    assert_eq!((sold.channel, sold.tender), (Channel::BoxOffice, Some(Tender::Cash)));
    assert_eq!((sold.tickets.len(), sold.seats.len()), (2, 2));
    assert_eq!(sold.amount, won(sold.seats.iter().map(|seat| seat.price.get()).sum()));
    assert_eq!(
        (state(&world, 0).await, state(&world, 10).await),
        (SeatState::Sold, SeatState::Sold)
    );
    let list = world.store.allocations_of(world.schedule).await.unwrap();
    assert_eq!((list[0].kept, list[0].issued), (1, 1));
    let told = refusal(release(&world, made.id, Some(&[0]), at(3)).await);
    assert_eq!(told, Refusal::KeptSeatsSold { seats: vec![world.schedule.seat(0)] });
    let orders = world.store.issued_orders(world.schedule, PAGE).await.unwrap();
    assert_eq!((orders[0].reservation, orders[0].n_seats), (sold.reservation_id, 2));
    assert_eq!(orders[0].name, b"sealed name");
    world.finish().await;
}

#[tokio::test]
async fn a_complimentary_order_costs_nothing_and_names_what_it_gave() {
    let world = World::new().await;
    let given = issue(&world, Issue::Complimentary, &[0], at(2)).await.unwrap();
    assert_eq!((given.channel, given.amount), (Channel::Complimentary, won(0)));
    let parts = given.seats[0].parts.as_ref().unwrap();
    assert_eq!(parts.list_price, parts.type_discount);
    world.finish().await;
}

#[tokio::test]
async fn a_repeated_key_gives_the_first_answer_and_sells_nothing_more() {
    let world = World::new().await;
    let first = command(&world, CASH, &[0], at(2));
    let again = IssueOrder {
        reservation: ReservationId::new(world.id()),
        payment: PaymentId::new(world.id()),
        ..first.clone()
    };
    world.store.issue_order(first).await.unwrap();
    let replayed = world.store.issue_order(again).await.unwrap();
    assert!(matches!(replayed, Idempotent::Replay(stored) if stored.status == 201));
    assert_eq!(world.store.issued_orders(world.schedule, PAGE).await.unwrap().len(), 1);
    world.finish().await;
}

#[tokio::test]
async fn seats_of_others_and_seats_that_are_never_for_sale_are_refused_as_a_whole() {
    let world = World::new().await;
    let fan = world.fan().await;
    let held = world.hold(&fan, &[1], at(1)).await.unwrap();
    let told = refusal(issue(&world, CASH, &[0, 1], at(2)).await);
    assert_eq!(told, Refusal::seat_taken(vec![world.schedule.seat(1)]));
    assert_eq!(state(&world, 0).await, SeatState::Free, "all or none");
    issue(&world, CASH, &[0, 1], held.hold_expires_at).await.unwrap();
    crate::booking::allocations::create_never(&world, &[5]).await;
    let told = refusal(issue(&world, Issue::Complimentary, &[5], at(2)).await);
    assert_eq!(told, Refusal::seat_taken(vec![world.schedule.seat(5)]));
    world.finish().await;
}

#[tokio::test]
async fn a_refund_at_the_desk_is_made_at_once_and_the_seat_goes_back_to_its_allocation() {
    let world = World::new().await;
    let made = create(&world, "Box office", &[0, 1]).await;
    let sold = issue(&world, CASH, &[0, 1, 2], at(2)).await.unwrap();
    let OrganiserRefund::Made(answer, _) = refund(&world, sold.payment_id, &[0]).await else {
        panic!("a small refund needs no second organiser");
    };
    assert_eq!(
        (answer.status, answer.refund_to),
        (PaymentStatus::PartiallyRefunded, RefundTo::Original)
    );
    assert_eq!(state(&world, 0).await, SeatState::Kept);
    // The rest after the allocation has ended goes on sale.
    release(&world, made.id, None, at(21)).await.unwrap();
    refund(&world, sold.payment_id, &[]).await;
    for index in 0..3 {
        assert_eq!(state(&world, index).await, SeatState::Free);
    }
    assert!(world.store.take_due_refunds(at(90_000), at(90_060), 10).await.unwrap().is_empty());
    world.finish().await;
}

#[tokio::test]
async fn the_buyer_of_a_desk_order_cannot_cancel_it_as_a_fan() {
    let world = World::new().await;
    let sold = issue(&world, CASH, &[0], at(2)).await.unwrap();
    let cancel = CancelPayment {
        seats: Vec::new(),
        to: RefundTo::Wallet,
        key: key(&world, "payment/cancel"),
        payment: sold.payment_id,
        user: world.admin,
        refund: RefundId::new(world.id()),
        reason: "CHANGED_MIND".into(),
        now: at(3),
    };
    assert_eq!(refusal(world.store.cancel_payment(cancel).await), Refusal::CancelClosed);
    world.finish().await;
}

/// The desk isn't a fan: its orders don't count in a person's limit, and it sells before the sale.
#[tokio::test]
async fn desk_orders_have_no_limit_per_person_and_need_no_open_sale() {
    let world = World::planned(Plan { seats_per_person: 1, ..Plan::default() }).await;
    for first in [0, 10, 20] {
        let seats: Vec<SeatIndex> = (first..first + 10).collect();
        issue(&world, CASH, &seats, at(-1)).await.unwrap();
    }
    world.finish().await;
}

#[tokio::test]
async fn of_a_fan_and_the_desk_who_want_a_seat_exactly_one_gets_it() {
    let world = World::new().await;
    let fans = world.fans(20).await;
    for (seat, fan) in (0..).zip(&fans) {
        let seats = [seat];
        let (held, sold) =
            tokio::join!(world.hold(fan, &seats, at(1)), issue(&world, CASH, &seats, at(1)));
        assert!(held.is_ok() ^ sold.is_ok(), "{held:?} {sold:?}");
    }
    world.finish().await;
}

/// An organiser releases an allocation while the desk refunds one of its seats.
#[tokio::test]
async fn a_seat_that_comes_back_while_its_allocation_ends_is_never_left_behind() {
    let world = World::new().await;
    // One organiser may refund at most a million won alone.
    for round in 0..6 {
        let made = create(&world, &format!("A{round}"), &[round]).await;
        let sold = issue(&world, CASH, &[round], at(2)).await.unwrap();
        let seats = [];
        let (ended, _) = tokio::join!(
            release(&world, made.id, None, at(20)),
            refund(&world, sold.payment_id, &seats)
        );
        ended.unwrap();
        assert_eq!(state(&world, round as usize).await, SeatState::Free);
    }
    world.finish().await;
}

#[tokio::test]
async fn an_order_is_found_by_the_hashes_of_its_customer() {
    let world = World::new().await;
    let first = issue(&world, CASH, &[0], at(2)).await.unwrap();
    let second = issue(&world, Issue::Complimentary, &[1], at(3)).await.unwrap();
    let found = async |hash, limit| {
        let rows = world.store.issued_to(hash, limit).await.unwrap();
        rows.iter().map(|row| row.reservation).collect::<Vec<_>>()
    };
    assert_eq!(found([1; 32], 10).await, [second.reservation_id, first.reservation_id]);
    assert_eq!(found([2; 32], 1).await, [second.reservation_id]);
    assert_eq!(found([3; 32], 10).await, []);
    world.finish().await;
}

#[tokio::test]
async fn the_till_counts_what_was_taken_and_given_back_in_each_tender() {
    let world = World::new().await;
    let cash = issue(&world, CASH, &[0, 1], at(2)).await.unwrap();
    issue(&world, Issue::Sale(Tender::Terminal), &[2], at(12)).await.unwrap();
    issue(&world, Issue::Complimentary, &[3], at(2)).await.unwrap();
    // At 20 s.
    refund(&world, cash.payment_id, &[1]).await;
    let schedule = world.schedule;
    let sums = async |from: i64, until: i64| {
        let asked = CashUpQuery { schedule, from: at(from), until: at(until) };
        let found = world.store.cash_up(asked).await.unwrap();
        found.iter().map(|it| (it.orders, it.taken, it.refunded)).collect::<Vec<_>>()
    };
    let (both, one) = (cash.amount, won(cash.seats[1].price.get()));
    let nothing = (0, won(0), won(0));
    assert_eq!(sums(0, 10).await, [(1, both, won(0)), nothing, nothing]);
    let all = sums(0, 60).await;
    assert_eq!((all[0], all[2]), ((1, both, one), nothing));
    assert_eq!((all[1].0, all[1].2), (1, won(0)));
    assert_eq!(sums(15, 60).await[0], (0, won(0), one), "the evening after");
    world.finish().await;
}
