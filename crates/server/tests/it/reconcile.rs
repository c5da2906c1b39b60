//! The filter in front of the seats is kept true to the store.

use crate::client::Answer;
use crate::fan::Fan;
use crate::world::{Plan, Show, World, until};
use app::jobs::reconcile_seats;
use app::ports::holds::Taken;
use app::reconciliation::{heal, look};
use domain::Timestamp;
use domain::reconciliation::{FilterHold, GRACE};
use domain::seats::SeatPick;
use std::time::Duration;

/// A world whose own job has run once and does not come in between.
async fn world() -> (World, Show) {
    let world = World::with(&[("PODO_RECONCILE_EVERY_SECONDS", "86400")]).await;
    let rounds = || world.platform().reconciliation.totals().rounds;
    until("the first round is done", async || (rounds() == 1).then_some(())).await;
    let show = world.show(Plan::default()).await;
    (world, show)
}

/// One round of the job; says how many seats it corrected.
async fn round(world: &World) -> u64 {
    let platform = world.platform();
    reconcile_seats(platform, None, platform.now()).await.unwrap().done
}

/// Two rounds, as far apart as a difference must last.
async fn two_rounds(world: &World) -> u64 {
    let first = round(world).await;
    world.clock.advance(GRACE);
    first + round(world).await
}

/// Takes a seat in the filter only, as a node does that has not yet asked the store, or that died
/// before it could.
async fn take_in_filter(world: &World, show: &Show, fan: &Fan, seat: u32) {
    let platform = world.platform();
    let pick = SeatPick::new(show.schedule, &[show.seat(seat)]).unwrap();
    let (now, length) = (platform.now(), Duration::from_secs(300));
    let taken = platform.holds.take(&pick, fan.id, now.plus(length), now).await.unwrap();
    assert_eq!(taken, Taken::Yes);
}

async fn known(world: &World, show: &Show, seat: u32) -> Option<FilterHold> {
    let platform = world.platform();
    let known = platform.holds.known(show.schedule, platform.now()).await.unwrap();
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
    World::assert_sound(&world.findings().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_filter_that_lost_its_memory_is_filled_again() {
    let (world, show) = world().await;
    let holder = world.fan_inside(&show).await;
    let buyer = world.fan_inside(&show).await;
    holder.hold(&show, &[0, 1]).await;
    buyer.buy(&show, 2).await;
    let platform = world.platform();
    let before = platform.holds.known(show.schedule, platform.now()).await.unwrap();
    platform.holds.release(show.schedule, &[0, 1], holder.id).await.unwrap();
    platform.holds.release(show.schedule, &[2], buyer.id).await.unwrap();
    assert_eq!(known(&world, &show, 2).await, None);
    assert_eq!(two_rounds(&world).await, 3);
    let after = platform.holds.known(show.schedule, platform.now()).await.unwrap();
    assert_eq!(after, before, "every hold with its owner and its end");
    assert_eq!(after[&2].until, Timestamp::FAR_FUTURE);
    assert_eq!(two_rounds(&world).await, 0, "nothing is left to do");
}

/// A fan has the seat in the filter, and the store has not committed yet.
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

/// The twin: whoever heals at first sight takes the seat from under the fan, and the next one
/// passes the filter. The store still decides.
#[tokio::test(flavor = "multi_thread")]
async fn healing_at_first_sight_takes_a_hold_that_is_being_made() {
    let (world, show) = world().await;
    let (fan, rival) = (world.fan_inside(&show).await, world.fan_inside(&show).await);
    take_in_filter(&world, &show, &fan, 0).await;
    let seen = look(world.platform(), show.schedule).await.unwrap();
    assert_eq!(heal(world.platform(), show.schedule, &seen.differences, None).await.unwrap(), 1);
    assert_eq!(known(&world, &show, 0).await, None);
    select(&rival, &show, 0).await.expect(201);
    select(&fan, &show, 0).await.refused(409, "SEAT_TAKEN");
    World::assert_sound(&world.findings().await);
}

/// Somebody corrects what was seen long ago.
#[tokio::test(flavor = "multi_thread")]
async fn a_correction_that_comes_late_touches_nothing() {
    let (world, show) = world().await;
    let (ghost, fan) = (world.fan().await, world.fan_inside(&show).await);
    take_in_filter(&world, &show, &ghost, 0).await;
    let seen = look(world.platform(), show.schedule).await.unwrap().differences;
    assert_eq!(two_rounds(&world).await, 1);
    fan.hold(&show, &[0]).await;
    assert_eq!(heal(world.platform(), show.schedule, &seen, None).await.unwrap(), 0);
    assert_eq!(known(&world, &show, 0).await.unwrap().fan, fan.id);
}
