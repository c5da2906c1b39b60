//! The figures of sales over time.

use crate::world::{World, at, won};
use podo_app::waiting_room::port::samples::{SaleOutcome, SaleSample, SaleSamples};

fn sample(seconds: i64, sold: u32) -> SaleSample {
    SaleSample {
        at: at(seconds),
        waiting: 7,
        inside: 2,
        available: 30 - sold,
        held: 1,
        sold,
        revenue: won(1_000 * i64::from(sold)),
    }
}

#[tokio::test]
async fn a_moment_is_written_once_and_longer_steps_leave_moments_out() {
    let world = World::new().await;
    assert_eq!(world.store.sampled_period(world.schedule).await.unwrap(), None);
    // The world's time begins at a whole hour or not: take the next whole minute.
    let first = (60 - at(0).ms() / 1_000 % 60) % 60;
    let all: Vec<SaleSample> = (0..7).map(|step| sample(first + 10 * step, 1)).collect();
    let rows = all.iter().map(|it| (world.schedule, *it)).collect();
    world.store.add_samples(rows).await.unwrap();
    let again = SaleSample { sold: 9, ..all[0] };
    world.store.add_samples(vec![(world.schedule, again)]).await.unwrap();

    let period = world.store.sampled_period(world.schedule).await.unwrap();
    assert_eq!(period, Some((all[0].at, all[6].at)));
    let read = async |step_s| {
        world.store.samples(world.schedule, all[0].at, all[6].at, step_s).await.unwrap()
    };
    assert_eq!(read(10).await, all, "the first of a moment stays");
    assert_eq!(read(60).await, [all[0], all[6]]);
    let some = world.store.samples(world.schedule, all[1].at, all[2].at, 10).await.unwrap();
    assert_eq!(some, all[1..3]);
    world.finish().await;
}

#[tokio::test]
async fn an_outcome_counts_paid_orders_and_what_is_left_of_them() {
    let world = World::new().await;
    let none = world.store.sale_outcome(world.schedule).await.unwrap();
    assert_eq!(none, SaleOutcome::default());
    let (fan, other) = (world.fan().await, world.fan().await);
    world.buy(&fan, &[0, 1], at(10)).await;
    world.buy(&other, &[2], at(20)).await;
    let outcome = world.store.sale_outcome(world.schedule).await.unwrap();
    assert_eq!((outcome.orders, outcome.orders_kept), (2, 2));
    assert_eq!((outcome.seats_sold, outcome.seats_canceled), (3, 0));
    assert!(outcome.first_sold_at < outcome.last_sold_at, "{outcome:?}");
    world.finish().await;
}
