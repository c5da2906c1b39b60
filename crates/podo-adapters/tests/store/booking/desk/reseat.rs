//! Moving bookings to other seats, and the races with gates and sales.

use crate::booking::allocations::create;
use crate::booking::orders::cancel;
use crate::world::{Fan, NEAR, Plan, World, at, broken, fresh, refusal};
use podo_adapters::sql::Guard;
use podo_app::Result;
use podo_app::booking::port::reseat::{ReseatBooking, Reseated, Reseats};
use podo_app::catalog::port::Catalog;
use podo_app::identity::support::port::{Support, SupportSubject, TimelineKind, TimelineQuery};
use podo_app::operations::port::idempotency::IdempotencyKey;
use podo_app::payments::port::payments::Sold;
use podo_app::store::PageRequest;
use podo_app::tickets::gate_port::{CheckIn, Gates, OfflineScan, RecordScan};
use podo_app::tickets::port::{TicketView, Tickets};
use podo_domain::booking::reservations::SeatMove;
use podo_domain::booking::seats::SeatState;
use podo_domain::id::SeatIndex;
use podo_domain::messaging::messages::MessageKind;
use podo_domain::tickets::TicketStatus;
use podo_domain::tickets::gate::ScanVerdict;
use podo_domain::{Refusal, ReservationId, Timestamp};

pub(crate) fn command(
    world: &World,
    reservation: ReservationId,
    moves: &[(SeatIndex, SeatIndex)],
    now: Timestamp,
) -> ReseatBooking {
    let seat = |index: SeatIndex| world.schedule.seat(index);
    ReseatBooking {
        key: IdempotencyKey {
            user: world.admin,
            endpoint: "admin/reseat",
            key: format!("reseat-{}", world.number()),
            fingerprint: [7; 32],
        },
        actor: world.admin,
        reservation,
        moves: moves
            .iter()
            .map(|(from, to)| SeatMove { from: seat(*from), to: seat(*to) })
            .collect(),
        waives_difference: false,
        reason: "A camera stands there".to_owned(),
        now,
    }
}

async fn reseat(
    world: &World,
    sold: &Sold,
    moves: &[(SeatIndex, SeatIndex)],
    now: Timestamp,
) -> Result<Reseated> {
    let command = command(world, sold.confirmed.reservation.id, moves, now);
    world.store.reseat_booking(command).await.map(|answer| fresh(answer).0)
}

async fn tickets(world: &World, fan: &Fan) -> Vec<TicketView> {
    world.store.tickets_of(fan.id, PageRequest { limit: 20, after: None }).await.unwrap()
}

async fn state(world: &World, index: usize) -> SeatState {
    world.store.seats_of(world.schedule).await.unwrap()[index].state
}

async fn check_in(world: &World, ticket: &TicketView, now: Timestamp) -> Result<()> {
    let command = CheckIn {
        id: world.id(),
        ticket: ticket.id,
        actor: world.admin,
        code: ticket.code.clone(),
        gate: "A".to_owned(),
        now,
    };
    world.store.check_in(command).await
}

#[tokio::test]
async fn a_booking_keeps_its_number_and_its_tickets_get_new_codes() {
    let world = World::new().await;
    let fan = world.fan().await;
    let sold = world.buy(&fan, &[0, 1], at(1)).await;
    let before = tickets(&world, &fan).await;
    let done = reseat(&world, &sold, &[(0, 5)], at(10)).await.unwrap();
    assert_eq!(done.booking_number, sold.confirmed.reservation.booking_number);
    let numbers: Vec<&str> = done.seats.iter().map(|seat| seat.number.as_str()).collect();
    assert_eq!(numbers, ["A-2", "A-6"]);
    assert_eq!(
        (state(&world, 0).await, state(&world, 5).await),
        (SeatState::Free, SeatState::Sold)
    );
    let after = tickets(&world, &fan).await;
    assert_eq!(after.len(), 2);
    for old in &before {
        let new = after.iter().find(|it| it.id == old.id).unwrap();
        assert_eq!(new.code == old.code, old.seat_number == "A-2", "only the moved one changes");
    }
    let told = world.told(sold.confirmed.reservation.id.uuid()).await;
    assert_eq!(told.last(), Some(&MessageKind::ReservationReseated));
    let back = reseat(&world, &sold, &[(5, 0)], at(11)).await.unwrap();
    assert_eq!(back.seats[0].number, "A-1");
    let asked = TimelineQuery {
        subject: SupportSubject::Booking(sold.confirmed.reservation.id),
        until: at(20),
        limit: 20,
    };
    let mut entries = world.store.timeline(asked).await.unwrap();
    entries.retain(|it| matches!(it.kind, TimelineKind::Reseat | TimelineKind::Reservation));
    entries.sort_by_key(|it| it.at);
    let seen: Vec<_> = entries.iter().map(|it| (it.state.as_str(), it.actor_id)).collect();
    let (moved, done) = (("RESEATED", Some(world.admin)), |state| (state, None));
    assert_eq!(seen, [done("HELD"), done("CONFIRMED"), moved, moved]);
    let detail = entries[2].detail.as_deref();
    assert_eq!(detail, Some("A-1 → A-6 · A camera stands there"));
    world.finish().await;
}

#[tokio::test]
async fn seats_of_others_kept_ones_and_other_prices_are_refused_and_nothing_moves() {
    let world = World::new().await;
    let (fan, other) = (world.fan().await, world.fan().await);
    let sold = world.buy(&fan, &[0, 1], at(1)).await;
    world.hold(&other, &[2], at(2)).await.unwrap();
    create(&world, "Artist", &[3]).await;
    for (seat, index) in [(2, 2), (3, 3)] {
        let told = refusal(reseat(&world, &sold, &[(0, 4), (1, seat)], at(3)).await);
        assert_eq!(told, Refusal::seat_taken(vec![world.schedule.seat(index)]));
    }
    assert_eq!(
        (state(&world, 4).await, state(&world, 0).await),
        (SeatState::Free, SeatState::Sold)
    );
    let dearer = reseat(&world, &sold, &[(0, 30)], at(3)).await;
    assert_eq!(refusal(dearer), Refusal::ReseatOtherPrice);
    let foreign = reseat(&world, &sold, &[(7, 8)], at(3)).await;
    assert_eq!(refusal(foreign), Refusal::ForeignSeat);
    let twice = reseat(&world, &sold, &[(0, 5), (1, 5)], at(3)).await;
    assert_eq!(refusal(twice), Refusal::SeatRepeated);
    assert_eq!(refusal(reseat(&world, &sold, &[], at(3)).await), Refusal::NoSeats);
    world.finish().await;
}

#[tokio::test]
async fn a_waived_difference_is_neither_paid_nor_given_back() {
    let world = World::new().await;
    let fan = world.fan().await;
    let sold = world.buy(&fan, &[0], at(1)).await;
    world.charge(&fan, 1_000_000).await;
    let revenue = async || {
        let sales = world.store.seats_by_grade(world.schedule, at(4)).await.unwrap();
        sales.iter().map(|it| (it.sold, it.revenue.get())).collect::<Vec<_>>()
    };
    let before: i64 = revenue().await.iter().map(|(_, revenue)| revenue).sum();
    let id = sold.confirmed.reservation.id;
    let command = command(&world, id, &[(0, 30)], at(3));
    let command = ReseatBooking { waives_difference: true, ..command };
    let moved = fresh(world.store.reseat_booking(command).await.unwrap()).0;
    assert_eq!((moved.seats[0].grade.as_str(), moved.seats[0].price.get()), ("R", NEAR));
    let after = revenue().await;
    assert_eq!(after.iter().map(|(_, revenue)| revenue).sum::<i64>(), before, "{after:?}");
    assert!(after.contains(&(1, NEAR)), "the grade of the new seat has it: {after:?}");
    let canceled = cancel(&world, &fan, &sold, &[], at(5)).await;
    assert_eq!(canceled.refund_amount.get() + canceled.fee.get(), NEAR);
    world.finish().await;
}

#[tokio::test]
async fn a_used_ticket_stays_where_it_is() {
    let world = World::new().await;
    let fan = world.fan().await;
    let sold = world.buy(&fan, &[0], at(1)).await;
    let ticket = tickets(&world, &fan).await.remove(0);
    check_in(&world, &ticket, at(5)).await.unwrap();
    let told = refusal(reseat(&world, &sold, &[(0, 5)], at(6)).await);
    assert!(matches!(told, Refusal::TicketUsed { .. }), "{told:?}");
    assert_eq!(state(&world, 0).await, SeatState::Sold);
    world.finish().await;
}

/// A device without a network admitted the guest with the old code; its scan arrives after the move.
#[tokio::test]
async fn a_late_scan_of_a_moved_ticket_counts_and_names_the_seat_that_it_has_now() {
    let world = World::new().await;
    let fan = world.fan().await;
    let sold = world.buy(&fan, &[0], at(1)).await;
    let ticket = tickets(&world, &fan).await.remove(0);
    reseat(&world, &sold, &[(0, 5)], at(5)).await.unwrap();
    let late = |id| RecordScan {
        actor: world.admin,
        schedule: world.schedule,
        scan: OfflineScan {
            id,
            ticket: ticket.id,
            gate: "A".to_owned(),
            scanned_at: at(4),
            undo: None,
        },
        now: at(6),
    };
    let id = world.id();
    for _again in 0..2 {
        let found = world.store.record_scan(late(id)).await.unwrap();
        assert_eq!(found.verdict, ScanVerdict::Admitted);
        assert_eq!(found.seat_number.as_deref(), Some("A-6"));
    }
    let new = tickets(&world, &fan).await.remove(0);
    assert_eq!(new.status, TicketStatus::Used);
    let told = refusal(check_in(&world, &new, at(7)).await);
    assert!(matches!(told, Refusal::TicketUsed { .. }), "one guest is inside: {told:?}");
    let told = refusal(reseat(&world, &sold, &[(5, 6)], at(8)).await);
    assert!(matches!(told, Refusal::TicketUsed { .. }), "{told:?}");
    world.finish().await;
}

#[tokio::test]
async fn the_old_code_no_longer_opens_the_gate_and_the_new_one_does() {
    let world = World::new().await;
    let fan = world.fan().await;
    let sold = world.buy(&fan, &[0], at(1)).await;
    let old = tickets(&world, &fan).await.remove(0);
    reseat(&world, &sold, &[(0, 5)], at(5)).await.unwrap();
    assert!(check_in(&world, &old, at(6)).await.is_err());
    let new = tickets(&world, &fan).await.remove(0);
    check_in(&world, &new, at(7)).await.unwrap();
    world.finish().await;
}

/// Moves tickets while gates scan their old codes; returns how many used tickets were moved.
async fn move_while_gates_scan(off: Vec<Guard>) -> (World, usize) {
    let world = World::planned(Plan { off, ..Plan::default() }).await;
    let mut n_both = 0;
    for round in 0..10_u32 {
        let fan = world.fan().await;
        let sold = world.buy(&fan, &[round + 10], at(1)).await;
        let ticket = tickets(&world, &fan).await.remove(0);
        // The second and the third row cost the same.
        let moves = [(round + 10, round + 20)];
        let (scanned, moved) =
            tokio::join!(check_in(&world, &ticket, at(5)), reseat(&world, &sold, &moves, at(5)));
        n_both += usize::from(scanned.is_ok() && moved.is_ok());
        let after = tickets(&world, &fan).await.remove(0);
        let is_used = after.status == TicketStatus::Used;
        assert_eq!(is_used, scanned.is_ok(), "{scanned:?} {moved:?}");
    }
    (world, n_both)
}

#[tokio::test]
async fn of_a_scan_and_a_move_at_once_exactly_one_succeeds() {
    let (world, n_both) = move_while_gates_scan(Vec::new()).await;
    assert_eq!(n_both, 0);
    world.finish().await;
}

/// The control of the race: without the comparison the guest is inside with a seat that the ticket no
/// longer has.
#[tokio::test]
async fn without_the_comparison_a_scan_and_a_move_at_once_both_succeed() {
    let (world, n_both) = move_while_gates_scan(vec![Guard::TicketIsCompared]).await;
    assert!(n_both > 0);
    world.abandon("used tickets were moved");
}

/// The control: without the comparison a used ticket is moved, and its holder sits elsewhere.
#[tokio::test]
async fn without_the_comparison_used_tickets_are_moved() {
    let world =
        World::planned(Plan { off: vec![Guard::TicketIsCompared], ..Plan::default() }).await;
    let fan = world.fan().await;
    let sold = world.buy(&fan, &[0], at(1)).await;
    let ticket = tickets(&world, &fan).await.remove(0);
    check_in(&world, &ticket, at(5)).await.unwrap();
    reseat(&world, &sold, &[(0, 5)], at(6)).await.unwrap();
    let after = tickets(&world, &fan).await.remove(0);
    assert_eq!((after.status, after.seat_number.as_str()), (TicketStatus::Used, "A-6"));
    world.abandon("a used ticket was moved");
}

#[tokio::test]
async fn of_a_fan_and_a_move_that_want_a_seat_exactly_one_gets_it() {
    let world = World::new().await;
    for round in 0..5_u32 {
        let (owner, fan) = (world.fan().await, world.fan().await);
        let sold = world.buy(&owner, &[round], at(1)).await;
        let (seats, moves) = ([round + 5], [(round, round + 5)]);
        let (held, moved) =
            tokio::join!(world.hold(&fan, &seats, at(2)), reseat(&world, &sold, &moves, at(2)));
        assert!(held.is_ok() ^ moved.is_ok(), "{held:?} {moved:?}");
    }
    world.finish().await;
}

/// The control: without the comparison the seat of a fan is sold again.
#[tokio::test]
async fn without_the_comparison_a_move_takes_the_seat_of_a_fan() {
    let off = vec![Guard::SeatIsCompared, Guard::OneClaimPerSeat];
    let world = World::planned(Plan { off, ..Plan::default() }).await;
    let (owner, fan) = (world.fan().await, world.fan().await);
    let sold = world.buy(&owner, &[0], at(1)).await;
    world.hold(&fan, &[5], at(2)).await.unwrap();
    reseat(&world, &sold, &[(0, 5)], at(3)).await.unwrap();
    assert!(broken(&world.store, at(3)).await.contains(&"I1"));
    world.abandon("a seat is sold twice");
}
