//! Concurrent fans, and the controls: without the guards the damage is real.

use crate::world::{Fan, Plan, World, at, broken};
use futures::future::join_all;
use podo_adapters::sql::Guard;
use podo_app::booking::port::reservations::{Held, Reservations};
use podo_app::catalog::port::Catalog;
use podo_app::{Error, Result};
use podo_domain::Refusal;
use podo_domain::booking::seats::SeatState;
use podo_domain::payments::PaymentMethod;

const FANS: usize = 200;

/// Every fan selects seat 0 at once. Returns the answers in the order of the fans.
async fn reach_for_one_seat(world: &World, fans: &[Fan]) -> Vec<Result<Held>> {
    join_all(fans.iter().map(|fan| world.hold(fan, &[0], at(1)))).await
}

fn count_winners(answers: &[Result<Held>]) -> usize {
    answers.iter().filter(|answer| answer.is_ok()).count()
}

async fn race(off: Vec<Guard>) -> (World, Vec<Result<Held>>) {
    let world = World::planned(Plan { off, ..Plan::default() }).await;
    let fans = world.fans(FANS).await;
    let answers = reach_for_one_seat(&world, &fans).await;
    (world, answers)
}

#[tokio::test]
async fn of_two_hundred_fans_exactly_one_gets_the_seat() {
    let (world, answers) = race(Vec::new()).await;
    assert_eq!(count_winners(&answers), 1);
    let taken = vec![world.schedule.seat(0)];
    for answer in answers.iter().filter_map(|answer| answer.as_ref().err()) {
        assert!(
            matches!(answer, Error::Refused(Refusal::SeatTaken { taken: told, .. }) if *told == taken),
            "{answer}"
        );
    }
    world.finish().await;
}

#[tokio::test]
async fn without_both_guards_the_seat_is_sold_many_times_and_the_invariants_say_so() {
    let (world, answers) = race(vec![Guard::SeatIsCompared, Guard::OneClaimPerSeat]).await;
    assert!(count_winners(&answers) > 1, "the control must show the damage");
    let broken = broken(&world.store, at(1)).await;
    assert!(broken.contains(&"I1") && broken.contains(&"I2"), "{broken:?}");
    world.abandon("the seat is sold many times");
}

#[tokio::test]
async fn the_unique_index_alone_still_sells_the_seat_once() {
    let (world, answers) = race(vec![Guard::SeatIsCompared]).await;
    assert_eq!(count_winners(&answers), 1);
    world.finish().await;
}

#[tokio::test]
async fn the_comparison_alone_still_sells_the_seat_once() {
    let (world, answers) = race(vec![Guard::OneClaimPerSeat]).await;
    assert_eq!(count_winners(&answers), 1);
    world.finish().await;
}

#[tokio::test]
async fn fans_who_reach_for_overlapping_seats_never_share_one() {
    let world = World::new().await;
    let fans = world.fans(120).await;
    let picks = (0..).zip(&fans).map(|(number, fan)| {
        let first = number * 7 % 38;
        world.hold_command(fan, &[first, first + 1, first + 2], at(1))
    });
    let answers = join_all(picks.map(|command| world.store.hold_seats(command))).await;
    let n_winners = answers.iter().filter(|answer| answer.is_ok()).count();
    let seats = world.store.seats_of(world.schedule).await.unwrap();
    let n_held = seats.iter().filter(|seat| seat.state == SeatState::Held).count();
    assert!(n_winners > 1);
    assert_eq!(n_held, 3 * n_winners);
    world.finish().await;
}

#[tokio::test]
async fn a_hold_that_ends_is_taken_over_by_exactly_one_of_many() {
    let world = World::new().await;
    let late = world.fan().await;
    let old = world.hold(&late, &[0], at(0)).await.unwrap();
    let fans = world.fans(FANS).await;
    let now = old.hold_expires_at;
    let answers = join_all(fans.iter().map(|fan| world.hold(fan, &[0], now))).await;
    assert_eq!(count_winners(&answers), 1);
    world.finish().await;
}

/// Choosing another payment method cancels the earlier choice, which may be confirmed at that
/// moment.
#[tokio::test]
async fn a_confirm_and_another_request_at_once_are_served_or_refused() {
    let world = World::new().await;
    let (card, now) = (PaymentMethod::Card, at(1));
    for (seat, fan) in (0..).zip(&world.fans(30).await) {
        let held = world.hold(fan, &[seat], now).await.unwrap();
        let first = world.request(fan, held.reservation_id, card, now).await.unwrap();
        let (confirmed, requested) = tokio::join!(
            world.confirm(fan, &first, now),
            world.request(fan, held.reservation_id, card, now)
        );
        for error in [confirmed.err(), requested.err()].into_iter().flatten() {
            assert!(matches!(error, Error::Refused(_)), "{error}");
        }
    }
    world.finish().await;
}
