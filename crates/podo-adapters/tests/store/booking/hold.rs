//! Holds: all seats or none, for fans with an entry, while the sale is open.

use crate::world::{FAR, Fan, NEAR, Plan, SALE_S, World, at, refusal, won};
use podo_app::booking::port::reservations::{Freed, ReleaseSeats, Reservations};
use podo_app::catalog::port::{Catalog, ChangeEvent, ChangeSchedule, EventVerb};
use podo_app::waiting_room::port::history::{HistoryCursor, QueueHistory};
use podo_domain::booking::reservations::ReservationStatus;
use podo_domain::booking::seats::SeatState;
use podo_domain::catalog::ScheduleChange;
use podo_domain::messaging::messages::MessageKind;
use podo_domain::waiting_room::Entry;
use podo_domain::{Refusal, ReservationId, Timestamp, Won};
use std::collections::BTreeMap;

async fn seat_states(world: &World) -> Vec<SeatState> {
    let seats = world.store.seats_of(world.schedule).await.unwrap();
    seats.iter().map(|seat| seat.state).collect()
}

#[tokio::test]
async fn a_hold_costs_what_the_database_says_its_seats_cost() {
    let world = World::new().await;
    let fan = world.fan().await;
    let held = world.hold(&fan, &[10, 9, 0], at(1)).await.unwrap();
    assert_eq!(held.amount, won(2 * NEAR + FAR));
    let numbers: Vec<&str> = held.seats.iter().map(|seat| seat.number.as_str()).collect();
    assert_eq!(numbers, ["A-1", "A-10", "B-1"]);
    assert_eq!(held.hold_expires_at, at(301));
    let view = world.store.reservation(held.reservation_id, fan.id).await.unwrap().unwrap();
    assert_eq!((view.status, view.amount), (ReservationStatus::Held, held.amount));
    assert_eq!(view.seats, held.seats);
    assert_eq!(world.told(held.reservation_id.uuid()).await, [MessageKind::ReservationHeld]);
    world.finish().await;
}

/// Organisers may ask up to 100,000,000 won for a seat, and one payment moves no more.
#[tokio::test]
async fn seats_that_cost_more_than_one_payment_may_move_are_refused() {
    let world = World::new().await;
    let fan = world.fan().await;
    let max = Won::PER_PAYMENT_MAX;
    let prices = BTreeMap::from([("VIP".to_owned(), max), ("R".to_owned(), won(1))]);
    let change = ScheduleChange { prices: Some(prices), ..ScheduleChange::default() };
    let (actor, schedule, now) = (world.admin, world.schedule, at(-10));
    world.store.change_schedule(ChangeSchedule { actor, schedule, change, now }).await.unwrap();
    let told = refusal(world.hold(&fan, &[0, 10], at(1)).await);
    assert_eq!(told, Refusal::OrderTooExpensive { max });
    assert_eq!(world.hold(&fan, &[0], at(1)).await.unwrap().amount, max);
    world.finish().await;
}

#[tokio::test]
async fn the_second_fan_gets_no_seat_and_the_list_of_taken_ones() {
    let world = World::new().await;
    let (first, second) = (world.fan().await, world.fan().await);
    world.hold(&first, &[1, 3], at(1)).await.unwrap();
    let taken = [1, 3].map(|index| world.schedule.seat(index)).to_vec();
    let told = refusal(world.hold(&second, &[0, 1, 2, 3], at(2)).await);
    assert_eq!(told, Refusal::seat_taken(taken));
    let states = seat_states(&world).await;
    assert_eq!((states[0], states[2]), (SeatState::Free, SeatState::Free), "all or none");
    let theirs = world.store.seats_held_by(second.id, world.schedule).await.unwrap();
    assert!(theirs.is_empty());
    world.hold(&second, &[0, 2], at(2)).await.unwrap();
    world.finish().await;
}

#[tokio::test]
async fn a_hold_is_taken_over_at_its_very_last_millisecond_and_not_before() {
    let world = World::new().await;
    let (first, second) = (world.fan().await, world.fan().await);
    let old = world.hold(&first, &[4, 5], at(0)).await.unwrap();
    let a_moment_before = Timestamp::from_ms(old.hold_expires_at.ms() - 1);
    let told = refusal(world.hold(&second, &[5], a_moment_before).await);
    assert_eq!(told, Refusal::seat_taken(vec![world.schedule.seat(5)]));
    let new = world.hold(&second, &[5], old.hold_expires_at).await.unwrap();
    assert_eq!(world.status(&first, old.reservation_id).await, ReservationStatus::Expired);
    assert_eq!(world.status(&second, new.reservation_id).await, ReservationStatus::Held);
    let told = world.told(old.reservation_id.uuid()).await;
    assert_eq!(told, [MessageKind::ReservationHeld, MessageKind::ReservationExpired]);
    assert_eq!(seat_states(&world).await[4], SeatState::Free, "the old hold is over as a whole");
    world.finish().await;
}

#[tokio::test]
async fn a_takeover_that_is_refused_leaves_the_old_hold_as_it_was() {
    let world = World::new().await;
    let (first, second, third) = (world.fan().await, world.fan().await, world.fan().await);
    let old = world.hold(&first, &[4], at(0)).await.unwrap();
    world.hold(&second, &[5], at(200)).await.unwrap();
    refusal(world.hold(&third, &[4, 5], at(300)).await);
    assert_eq!(world.status(&first, old.reservation_id).await, ReservationStatus::Held);
    world.finish().await;
}

#[tokio::test]
async fn seats_under_payment_are_never_taken_over_nor_swept() {
    let world = World::new().await;
    let (first, second) = (world.fan().await, world.fan().await);
    let (reservation, ready) = world.start_paying(&first, &[4], at(0)).await;
    let long_after = ready.hold_expires_at.plus(std::time::Duration::from_secs(600));
    let taken = vec![world.schedule.seat(4)];
    let told = refusal(world.hold(&second, &[4], long_after).await);
    assert_eq!(told, Refusal::seat_taken(taken));
    assert_eq!(world.store.expire_holds(long_after, 100).await.unwrap(), []);
    assert_eq!(world.status(&first, reservation).await, ReservationStatus::Paying);
    let release = ReleaseSeats { reservation, user: first.id, now: long_after };
    let told = refusal(world.store.release_seats(release).await);
    assert_eq!(told, Refusal::PaymentRunning);
    world.finish().await;
}

#[tokio::test]
async fn a_person_has_at_most_the_allowed_seats_over_all_reservations() {
    let world = World::planned(Plan { seats_per_person: 3, ..Plan::default() }).await;
    let fan = world.fan().await;
    let first = world.hold(&fan, &[0, 1], at(0)).await.unwrap();
    let told = refusal(world.hold(&fan, &[2, 3], at(1)).await);
    assert_eq!(told, Refusal::SeatLimit { max: 3 });
    world.hold(&fan, &[2], at(1)).await.unwrap();
    // An expired hold doesn't count, swept or not.
    world.hold(&fan, &[3, 4], first.hold_expires_at).await.unwrap();
    world.finish().await;
}

#[tokio::test]
async fn only_a_live_entry_of_the_same_fan_opens_the_hall() {
    let world = World::new().await;
    let (owner, thief) = (world.fan().await, world.fan().await);
    world.hold(&owner, &[0], at(1)).await.unwrap();
    let stolen = Fan { entry: owner.entry, ..thief };
    assert_eq!(refusal(world.hold(&stolen, &[1], at(2)).await), Refusal::EntryRequired);
    let too_late = refusal(world.hold(&owner, &[1], owner.entry.expires_at).await);
    assert_eq!(too_late, Refusal::EntryExpired);
    let number = owner.entry.number;
    world.store.end_entry(world.schedule, number, "LEFT", at(3)).await.unwrap();
    assert_eq!(refusal(world.hold(&owner, &[1], at(4)).await), Refusal::EntryExpired);
    world.finish().await;
}

#[tokio::test]
async fn an_extension_that_the_store_has_not_heard_of_counts_and_is_remembered() {
    let world = World::new().await;
    let fan = world.fan().await;
    world.hold(&fan, &[0], at(1)).await.unwrap();
    let entry = Entry { expires_at: at(7_200), extensions_left: 1, ..fan.entry };
    world.hold(&Fan { entry, ..fan }, &[1], at(3_600)).await.unwrap();
    let places =
        world.store.places_of(fan.id, HistoryCursor::newest(at(99_999)), 10).await.unwrap();
    assert_eq!(places[0].expires_at, Some(at(7_200)));
    world.finish().await;
}

#[tokio::test]
async fn seats_are_held_only_while_the_sale_is_open() {
    let world = World::new().await;
    let fan = world.fan().await;
    let entry =
        Entry { admitted_at: at(-10), expires_at: at(2 * SALE_S), extensions_left: 0, number: 9 };
    let fan = Fan { entry, ..fan };
    let early = refusal(world.hold(&fan, &[0], at(-1)).await);
    assert_eq!(early, Refusal::SaleNotOpen { opens_at: at(0) });
    assert_eq!(refusal(world.hold(&fan, &[0], at(SALE_S)).await), Refusal::SaleClosed);
    world.hold(&fan, &[0], at(0)).await.unwrap();
    let (actor, event, now) = (world.admin, world.event, at(1));
    let command = ChangeEvent { actor, event, verb: EventVerb::Cancel, now };
    world.store.change_event(command).await.unwrap();
    assert_eq!(refusal(world.hold(&fan, &[1], at(2)).await), Refusal::ScheduleCanceled);
    world.finish().await;
}

#[tokio::test]
async fn a_seat_that_the_hall_does_not_have_is_not_found() {
    let world = World::new().await;
    let fan = world.fan().await;
    assert_eq!(refusal(world.hold(&fan, &[39, 40], at(1)).await), Refusal::NotFound);
    assert_eq!(seat_states(&world).await[39], SeatState::Free);
    world.finish().await;
}

#[tokio::test]
async fn a_fan_gives_back_their_own_seats_only_and_once() {
    let world = World::new().await;
    let (fan, other) = (world.fan().await, world.fan().await);
    let held = world.hold(&fan, &[6, 7], at(1)).await.unwrap();
    let reservation = held.reservation_id;
    let release = |user, now| ReleaseSeats { reservation, user, now };
    let told = refusal(world.store.release_seats(release(other.id, at(2))).await);
    assert_eq!(told, Refusal::NotFound, "another fan's reservation looks like none");
    let unknown =
        ReleaseSeats { reservation: ReservationId::new(world.id()), user: fan.id, now: at(2) };
    assert_eq!(refusal(world.store.release_seats(unknown).await), Refusal::NotFound);
    let freed = world.store.release_seats(release(fan.id, at(3))).await.unwrap();
    let seats = vec![6, 7];
    assert_eq!(freed, Some(Freed { user: fan.id, schedule: world.schedule, seats }));
    assert_eq!(world.store.release_seats(release(fan.id, at(4))).await.unwrap(), None);
    assert_eq!(world.status(&fan, reservation).await, ReservationStatus::Released);
    world.hold(&other, &[6], at(5)).await.unwrap();
    world.finish().await;
}

#[tokio::test]
async fn a_sweep_ends_what_is_due_and_no_more_than_its_share() {
    let world = World::new().await;
    let fans = world.fans(5).await;
    for (fan, second) in fans.iter().zip(0..) {
        let seat = u32::try_from(second).unwrap();
        world.hold(fan, &[seat], at(second)).await.unwrap();
    }
    // The holds of seconds 0 to 3 have expired at 303; the oldest go first.
    let first = world.store.expire_holds(at(303), 3).await.unwrap();
    let seats: Vec<u32> = first.iter().flat_map(|freed| freed.seats.clone()).collect();
    assert_eq!(seats, [0, 1, 2]);
    assert_eq!(world.store.expire_holds(at(303), 3).await.unwrap().len(), 1);
    assert_eq!(world.store.expire_holds(at(303), 3).await.unwrap(), []);
    world.finish().await;
}

#[tokio::test]
async fn several_seats_of_one_hold_that_ran_out_are_taken_together() {
    let world = World::new().await;
    let (first, second) = (world.fan().await, world.fan().await);
    world.hold(&first, &[4, 5, 6], at(0)).await.unwrap();
    let held = world.hold(&second, &[3, 4, 5], at(300)).await.unwrap();
    assert_eq!(held.seats.len(), 3);
    world.finish().await;
}
