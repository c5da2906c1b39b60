//! Commands share a commit, and what was acknowledged is on disk.

use crate::world::{CURSED, World, at, broken};
use futures::future::join_all;
use podo_app::booking::port::reservations::{HoldSeats, Reservations};
use podo_app::{Error, Result};
use podo_domain::ReservationId;
use podo_domain::booking::reservations::ReservationStatus;

/// A third of the commands panic in the middle, a third want a taken seat.
fn mixed_commands(world: &World, fans: &[crate::world::Fan]) -> Vec<HoldSeats> {
    let command = |(number, fan): (u32, &crate::world::Fan)| match number % 3 {
        0 => world.hold_command(fan, &[1 + number / 3], at(1)),
        1 => world.hold_command(fan, &[0], at(1)),
        _ => HoldSeats { now: CURSED, ..world.hold_command(fan, &[31 + number % 9], at(1)) },
    };
    (0..).zip(fans).map(command).collect()
}

#[tokio::test]
async fn a_command_that_panics_or_is_refused_does_not_disturb_its_neighbours() {
    let world = World::new().await;
    let fans = world.fans(90).await;
    let first = world.fan().await;
    world.hold(&first, &[0], at(1)).await.unwrap();
    let commands = mixed_commands(&world, &fans);
    let answers: Vec<Result<_>> =
        join_all(commands.into_iter().map(|command| world.store.hold_seats(command))).await;
    for (number, answer) in answers.iter().enumerate() {
        let is_expected = match number % 3 {
            0 => answer.is_ok(),
            1 => matches!(answer, Err(Error::Refused(_))),
            _ => matches!(answer, Err(Error::Broken(_))),
        };
        assert!(is_expected, "command {number}: {answer:?}");
    }
    world.finish().await;
}

#[tokio::test]
async fn after_a_panic_the_store_goes_on() {
    let world = World::new().await;
    let fan = world.fan().await;
    let cursed = HoldSeats { now: CURSED, ..world.hold_command(&fan, &[0], at(1)) };
    let key = cursed.key.clone();
    assert!(matches!(world.store.hold_seats(cursed).await, Err(Error::Broken(_))));
    let retry = HoldSeats { key, ..world.hold_command(&fan, &[0], at(14)) };
    world.store.hold_seats(retry).await.unwrap();
    world.finish().await;
}

#[tokio::test]
async fn what_was_answered_is_in_the_files_at_that_moment() {
    let world = World::new().await;
    let fans = world.fans(30).await;
    let folder = tempfile::tempdir().unwrap();
    for (fan, seat) in fans.iter().zip(0..) {
        let held = world.hold(fan, &[seat], at(1)).await.unwrap();
        if seat % 10 == 9 {
            let copy = folder.path().join(format!("copy-{seat}.db"));
            world.engine.copy_to(&copy);
            let copied = world.engine.open_copy(&copy);
            let found = copied.reservation(held.reservation_id, fan.id).await.unwrap();
            assert_eq!(found.map(|found| found.status), Some(ReservationStatus::Held));
            assert_eq!(broken(&copied, at(1)).await, Vec::<&str>::new());
        }
    }
    world.finish().await;
}

#[tokio::test]
async fn a_store_that_is_opened_again_knows_everything() {
    let world = World::new().await;
    let fan = world.fan().await;
    let sold = world.buy(&fan, &[0, 1], at(1)).await;
    let again = world.restart().await;
    let id: ReservationId = sold.confirmed.reservation.id;
    let found = again.reservation(id, fan.id).await.unwrap().unwrap();
    assert_eq!(found.status, ReservationStatus::Confirmed);
    assert_eq!(found.booking_number, Some(sold.confirmed.reservation.booking_number));
    assert_eq!(broken(&again, at(1)).await, Vec::<&str>::new());
    world.finish().await;
}
