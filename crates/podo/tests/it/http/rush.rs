//! Whole crowds over HTTP: many fans for one seat (P1), and a sale with fans who give up and cards
//! that are declined (P2).

use crate::support::world::{Plan, World, accounts};
use podo_domain::booking::seats::SeatFace;
use podo_domain::identity::Role;
use podo_load::{Crowd, Ending, FanAccount, Target};
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
    World::assert_sound(&world.findings().await);
}

/// A tenth of P2's fans, so that it fits into every run; docs/performance.md has the full run.
#[tokio::test(flavor = "multi_thread")]
async fn a_sale_ends_with_every_seat_sold_or_free() {
    const N_FANS: u32 = 2_000;
    const N_SEATS: u32 = 500;
    let world = World::start().await;
    let show = world.show(Plan { n_seats: N_SEATS, max_active: 400, ..Plan::default() }).await;
    let fans = crowd(&world, N_FANS as usize).await;
    let plan = podo_load::LoadPlan {
        fans: N_FANS,
        seats_per_fan_max: 4,
        abandon_share: 0.3,
        decline_share: 0.2,
        poll_cap: Some(Duration::from_millis(200)),
        seed: 2,
        ..podo_load::LoadPlan::for_schedule(show.schedule)
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
    World::assert_sound(&world.findings().await);
}
