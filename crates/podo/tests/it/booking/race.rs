//! Many fans, one seat. The tests remove each guard to show that it matters.

use crate::engine::store_without;
use crate::support::fan::Fan;
use crate::support::world::{Plan, Show, World, config};
use crate::waiting_room::open_door::OpenDoor;
use futures::future::join_all;
use podo::bootstrap;
use podo::bootstrap::Bootstrapped;
use podo::config::Config;
use podo_adapters::clock::SystemRng;
use podo_adapters::sql::Guard;
use podo_app::operations::port::clock::Rng;
use std::sync::Arc;
use tempfile::TempDir;

/// Bootstraps with an open filter and without these database guards.
pub(crate) async fn wired_without(config: &Config, off: Vec<Guard>) -> Bootstrapped {
    let rng: Arc<dyn Rng> = Arc::new(SystemRng::new());
    let store = store_without(config, rng.clone(), off).await;
    let mut bootstrapped = bootstrap::context_on(config, Arc::new(store), rng).await.unwrap();
    bootstrapped.context.booking.seat_filter = Arc::new(OpenDoor);
    bootstrapped
}

async fn fans_inside(world: &World, show: &Show, n_fans: usize) -> Vec<Fan> {
    let mut fans = world.fans(n_fans).await;
    join_all(fans.iter_mut().map(|fan| fan.go_inside(show))).await;
    fans
}

/// All fans select the first seat at once; returns how many got it.
async fn race_for_one_seat(world: &World, n_fans: usize) -> usize {
    let show = world.show(Plan::default()).await;
    let fans = fans_inside(world, &show, n_fans).await;
    let answers = join_all(fans.iter().map(|fan| fan.select(&show, &[0]))).await;
    for answer in answers.iter().filter(|answer| answer.status != 201) {
        let problem = answer.refused(409, "SEAT_TAKEN");
        assert_eq!(problem["taken"][0], show.seat(0).to_string());
    }
    answers.iter().filter(|answer| answer.status == 201).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_hundred_fans_one_gets_the_seat() {
    let world = World::start().await;
    assert_eq!(race_for_one_seat(&world, 200).await, 1);
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_database_alone_gives_the_seat_to_one_fan() {
    let folder = TempDir::with_prefix("podo-").unwrap();
    let config = config(folder.path(), &[]);
    let world = World::on(&config, wired_without(&config, Vec::new()).await).await;
    assert_eq!(race_for_one_seat(&world, 200).await, 1);
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn either_guard_of_the_database_is_enough() {
    for guard in [Guard::SeatIsCompared, Guard::OneClaimPerSeat] {
        let folder = TempDir::with_prefix("podo-").unwrap();
        let config = config(folder.path(), &[]);
        let world = World::on(&config, wired_without(&config, vec![guard]).await).await;
        assert_eq!(race_for_one_seat(&world, 40).await, 1, "without {guard:?}");
        world.finish().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_any_guard_the_seat_is_held_twice_and_the_check_says_so() {
    let folder = TempDir::with_prefix("podo-").unwrap();
    let config = config(folder.path(), &[]);
    let off = vec![Guard::SeatIsCompared, Guard::OneClaimPerSeat];
    let world = World::on(&config, wired_without(&config, off).await).await;
    let n_winners = race_for_one_seat(&world, 40).await;
    assert!(n_winners > 1, "the control must show the damage; {n_winners} won");
    let findings = world.findings().await;
    let one_claim = findings.iter().find(|finding| finding.id == "I1").unwrap();
    assert!(one_claim.n_broken > 0, "{one_claim:?}");
    world.abandon();
}

#[tokio::test(flavor = "multi_thread")]
async fn overlapping_picks_are_given_wholly_or_not_at_all() {
    const N_SEATS: u32 = 16;
    let world = World::start().await;
    let show = world.show(Plan { n_seats: N_SEATS, ..Plan::default() }).await;
    let fans = fans_inside(&world, &show, 60).await;
    let picks = (0..=N_SEATS - 4).map(|first| [first, first + 1, first + 2, first + 3]).cycle();
    let picks: Vec<_> = picks.take(fans.len()).collect();
    let tries = fans.iter().zip(&picks).map(|(fan, pick)| fan.select(&show, pick));
    let answers = join_all(tries).await;

    let n_winners = answers.iter().filter(|answer| answer.status == 201).count();
    for answer in answers {
        match answer.status {
            201 => assert_eq!(answer.expect(201)["seats"].as_array().unwrap().len(), 4),
            _ => drop(answer.refused(409, "SEAT_TAKEN")),
        }
    }
    assert!((1..=4).contains(&n_winners), "{n_winners} picks of four in {N_SEATS} seats");
    let seats = world.context().store.seats_of(show.schedule).await.unwrap();
    let n_held = seats.iter().filter(|seat| !seat.is_free(world.context().now())).count();
    assert_eq!(n_held, 4 * n_winners, "no seat of a lost pick is held");
    world.finish().await;
}
