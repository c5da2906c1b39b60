//! Whole crowds over HTTP: many fans for one seat (P1), a sale with fans who give up and cards that
//! are declined (P2), and an opening from the lobby to the last seat.

use crate::support::world::{Plan, World, accounts};
use podo_domain::booking::seats::SeatFace;
use podo_domain::identity::Role;
use podo_load::{Arrival, Crowd, Ending, FanAccount, LoadPlan, Target};
use std::collections::BTreeMap;
use std::time::Duration;

async fn crowd(world: &World, n_fans: usize) -> Vec<FanAccount> {
    let accounts = accounts(world.context(), n_fans, Role::User).await;
    accounts.into_iter().map(|(_, access_token)| FanAccount { access_token }).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn of_ten_thousand_fans_one_gets_the_seat() {
    const N_FANS: usize = 10_000;
    let world = World::start().await;
    let show = world.show(Plan { max_active: 20_000, ..Plan::default() }).await;
    let fans = crowd(&world, N_FANS).await;
    let target = Target::at(&world.running.url()).unwrap();
    let crowd = Crowd::queue(target, show.schedule, &fans, 64).await.unwrap();
    assert_eq!(crowd.n_inside(), N_FANS);
    let answers = crowd.want(show.seat(0)).await.unwrap();
    assert_eq!(answers.statuses, BTreeMap::from([(201, 1), (409, N_FANS as u64 - 1)]));
    world.finish().await;
}

/// A tenth of P2's fans, so that it fits into every run; docs/performance.md has the full run.
#[tokio::test(flavor = "multi_thread")]
async fn a_sale_ends_with_every_seat_sold_or_free() {
    const N_FANS: u32 = 2_000;
    const N_SEATS: u32 = 500;
    let world = World::start().await;
    let show = world.show(Plan { n_seats: N_SEATS, max_active: 400, ..Plan::default() }).await;
    let fans = crowd(&world, N_FANS as usize).await;
    let plan = LoadPlan {
        fans: N_FANS,
        seats_per_fan_max: 4,
        abandon_share: 0.3,
        decline_share: 0.2,
        poll_cap: Some(Duration::from_millis(200)),
        seed: 2,
        ..LoadPlan::for_schedule(show.schedule)
    };
    let target = Target::at(&world.running.url()).unwrap();
    let report = podo_load::run(plan, target, fans, |_| ()).await;
    assert_eq!(report.unexpected, 0, "{report}");
    assert_eq!(report.ended(Ending::Failed), 0, "{report}");
    let now = world.context().now();
    let seats = world.context().store.seats_of(show.schedule).await.unwrap();
    let count = |face| seats.iter().filter(|seat| seat.face(now) == face).count();
    let (n_sold, n_free) = (count(SeatFace::Sold), count(SeatFace::Available));
    assert_eq!(n_sold + n_free, N_SEATS as usize, "nothing is left hanging: {report}");
    assert!(n_sold > 0 && report.ended(Ending::Bought) > 0, "{report}");
    world.finish().await;
}

/// `podo bench --profile national` plays a million fans; this is the same with a few.
#[tokio::test(flavor = "multi_thread")]
async fn an_opening_draws_everybody_and_tells_them_when_it_is_sold_out() {
    const N_FANS: u32 = 1_500;
    const N_SEATS: u32 = 300;
    const MAX_ACTIVE: u32 = 100;
    let world = World::start().await;
    let opens_in = Duration::from_secs(6);
    let stage = Plan { n_seats: N_SEATS, opens_in, max_active: MAX_ACTIVE, ..Plan::default() };
    let fans = crowd(&world, N_FANS as usize).await;
    let show = world.show(stage).await;
    let plan = LoadPlan {
        fans: N_FANS,
        arrival: Arrival::Over(Duration::from_secs(3)),
        leaves_when_sold_out: true,
        poll_cap: Some(Duration::from_secs(1)),
        seed: 3,
        ..LoadPlan::for_schedule(show.schedule)
    };
    let target = Target::at(&world.running.url()).unwrap();
    let report = podo_load::run(plan, target, fans, |_| ()).await;
    assert_eq!(report.unexpected, 0, "{report}");
    assert!(report.places.is_kept(MAX_ACTIVE.into()), "{}", report.places);
    assert_eq!(report.places.numbered, u64::from(N_FANS), "everybody was drawn");
    let n_failed = report.ended(Ending::Failed) + report.ended(Ending::TurnedAway);
    assert_eq!(n_failed, 0, "{report}");
    let now = world.context().now();
    let seats = world.context().store.seats_of(show.schedule).await.unwrap();
    assert!(seats.iter().all(|seat| seat.face(now) == SeatFace::Sold), "{report}");
    world.finish().await;
}
