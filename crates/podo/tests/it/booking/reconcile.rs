//! The seat filter is reconciled with the store.

use crate::support::client::Answer;
use crate::support::fan::Fan;
use crate::support::world::{Plan, Show, World, until};
use podo_app::booking::jobs::reconcile::reconcile_seats;
use podo_app::booking::port::seat_filter::Taken;
use podo_app::booking::reconciliation::{heal, look};
use podo_domain::Timestamp;
use podo_domain::booking::reconciliation::{FilterHold, GRACE};
use podo_domain::booking::seats::SeatPick;
use std::time::Duration;

/// A world whose own job has already run once and won't interfere.
async fn world() -> (World, Show) {
    let world = World::with(&[("PODO_RECONCILE_EVERY_SECONDS", "86400")]).await;
    let rounds = || world.context().booking.reconciliation.totals().rounds;
    until("the first round is done", async || (rounds() == 1).then_some(())).await;
    let show = world.show(Plan::default()).await;
    (world, show)
}

/// One round of the job; returns how many seats it corrected.
async fn round(world: &World) -> u64 {
    let context = world.context();
    reconcile_seats(context, None, context.now()).await.unwrap().done
}

/// Two rounds, as far apart as a difference must last.
async fn two_rounds(world: &World) -> u64 {
    let first = round(world).await;
    world.clock.advance(GRACE);
    first + round(world).await
}

/// Takes a seat in the filter only, like a node that hasn't called the store yet, or that died
/// before it could.
async fn take_in_filter(world: &World, show: &Show, fan: &Fan, seat: u32) {
    let context = world.context();
    let pick = SeatPick::new(show.schedule, &[show.seat(seat)]).unwrap();
    let (now, length) = (context.now(), Duration::from_secs(300));
    let taken =
        context.booking.seat_filter.take(&pick, fan.id, now.plus(length), now).await.unwrap();
    assert_eq!(taken, Taken::Yes);
}

async fn known(world: &World, show: &Show, seat: u32) -> Option<FilterHold> {
    let context = world.context();
    let known = context.booking.seat_filter.known(show.schedule, context.now()).await.unwrap();
    known.get(&seat).copied()
}

async fn select(fan: &Fan, show: &Show, seat: u32) -> Answer {
    fan.select(show, &[seat]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_seat_that_only_the_filter_thinks_taken_is_sold_again() {
    let (world, show) = world().await;
    let (ghost, fan) = (world.fan().await, world.fan_inside(&show).await);
    take_in_filter(&world, &show, &ghost, 0).await;
    select(&fan, &show, 0).await.refused(409, "SEAT_TAKEN");
    assert_eq!(two_rounds(&world).await, 1);
    select(&fan, &show, 0).await.expect(201);
    let metrics = world.stranger.get("/metrics").await.text;
    let healed = r#"podo_reconcile_healed_total{kind="orphaned"} 1"#;
    assert!(metrics.contains(healed), "{metrics}");
    assert!(metrics.contains("podo_reconcile_rounds_total 3"), "{metrics}");
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_filter_that_lost_its_memory_is_filled_again() {
    let (world, show) = world().await;
    let holder = world.fan_inside(&show).await;
    let buyer = world.fan_inside(&show).await;
    holder.hold(&show, &[0, 1]).await;
    buyer.buy(&show, 2).await;
    let context = world.context();
    let before = context.booking.seat_filter.known(show.schedule, context.now()).await.unwrap();
    context.booking.seat_filter.release(show.schedule, &[0, 1], holder.id).await.unwrap();
    context.booking.seat_filter.release(show.schedule, &[2], buyer.id).await.unwrap();
    assert_eq!(known(&world, &show, 2).await, None);
    assert_eq!(two_rounds(&world).await, 3);
    let after = context.booking.seat_filter.known(show.schedule, context.now()).await.unwrap();
    assert_eq!(after, before, "every hold with its owner and its end");
    assert_eq!(after[&2].until, Timestamp::FAR_FUTURE);
    assert_eq!(two_rounds(&world).await, 0, "nothing is left to do");
}

/// The filter has the seat, and the store has not committed yet.
#[tokio::test(flavor = "multi_thread")]
async fn a_hold_that_is_being_made_is_left_alone() {
    let (world, show) = world().await;
    let fan = world.fan_inside(&show).await;
    take_in_filter(&world, &show, &fan, 0).await;
    assert_eq!(round(&world).await, 0, "one look proves nothing");
    fan.hold(&show, &[0]).await;
    world.clock.advance(GRACE);
    assert_eq!(round(&world).await, 0);
    assert_eq!(known(&world, &show, 0).await.unwrap().fan, fan.id);
}

/// The counterexample: correcting at first sight takes the seat from the fan, and the next fan
/// passes the filter. The store still decides.
#[tokio::test(flavor = "multi_thread")]
async fn healing_at_first_sight_takes_a_hold_that_is_being_made() {
    let (world, show) = world().await;
    let (fan, rival) = (world.fan_inside(&show).await, world.fan_inside(&show).await);
    take_in_filter(&world, &show, &fan, 0).await;
    let seen = look(world.context(), show.schedule).await.unwrap();
    assert_eq!(heal(world.context(), show.schedule, &seen.differences, None).await.unwrap(), 1);
    assert_eq!(known(&world, &show, 0).await, None);
    select(&rival, &show, 0).await.expect(201);
    select(&fan, &show, 0).await.refused(409, "SEAT_TAKEN");
    world.finish().await;
}

/// Corrects a difference that was seen long ago.
#[tokio::test(flavor = "multi_thread")]
async fn a_correction_that_comes_late_touches_nothing() {
    let (world, show) = world().await;
    let (ghost, fan) = (world.fan().await, world.fan_inside(&show).await);
    take_in_filter(&world, &show, &ghost, 0).await;
    let seen = look(world.context(), show.schedule).await.unwrap().differences;
    assert_eq!(two_rounds(&world).await, 1);
    fan.hold(&show, &[0]).await;
    assert_eq!(heal(world.context(), show.schedule, &seen, None).await.unwrap(), 0);
    assert_eq!(known(&world, &show, 0).await.unwrap().fan, fan.id);
}
