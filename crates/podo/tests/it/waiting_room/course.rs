//! The course of a sale, which the server keeps, and its report.

use crate::support::world::{PRICE, Plan, World, until};
use podo::jobs::{Job, run_by_hand};
use std::time::Duration;

/// Samples the sale ten seconds later, and reads the last sample: free, held and sold seats, revenue.
/// The server's own job may have sampled before.
async fn last_of(world: &World, course: &str) -> [i64; 4] {
    world.clock.advance(Duration::from_secs(10));
    run_by_hand(world.context(), Job::SampleSales).await.unwrap();
    let kept = world.organiser.get(course).await.expect(200);
    assert_eq!(kept["stepSeconds"], 10);
    let last = kept["items"].as_array().unwrap().last().unwrap().clone();
    ["available", "held", "sold", "revenue"].map(|key| last[key].as_i64().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_server_keeps_the_course_of_a_sale_and_reports_what_it_led_to() {
    let world = World::start().await;
    let show = world.show(Plan { n_seats: 2, ..Plan::default() }).await;
    let idle = world.show(Plan::default()).await;
    let (first, second) = (world.fan_inside(&show).await, world.fan_inside(&show).await);
    let course = format!("/api/admin/schedules/{}/course", show.schedule);

    first.buy(&show, 0).await;
    let unpaid = second.hold(&show, &[1]).await;
    assert_eq!(last_of(&world, &course).await, [0, 1, 1, PRICE]);
    second.charge(PRICE).await;
    second.pay_from_wallet(&unpaid).await.expect(200);
    let waiting = world.fan().await;
    waiting.enter(&show).await.expect(200);
    assert_eq!(last_of(&world, &course).await, [0, 0, 2, 2 * PRICE]);
    let nothing = format!("/api/admin/schedules/{}/course", idle.schedule);
    let nothing = world.organiser.get(&nothing).await.expect(200);
    assert_eq!(nothing["items"].as_array().unwrap().len(), 0, "a date without fans costs nothing");

    let path = format!("/api/admin/schedules/{}/sale-report", show.schedule);
    let report = world.organiser.get(&path).await.expect(200);
    let number = |key: &str| report[key].as_i64().unwrap();
    assert_eq!((number("sold"), number("available"), number("revenue")), (2, 0, 2 * PRICE));
    assert_eq!((number("orders"), number("ordersKept"), number("admitted")), (2, 2, 3));
    assert!(report["soldOutAt"].is_string(), "{report}");
    assert_eq!(report["grades"][0]["grade"], "VIP");
    first.api.get(&path).await.refused(403, "ADMIN_ONLY");
    world.organiser.get(&format!("{course}?from=gestern")).await.refused(422, "INVALID");
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sale_is_sampled_once_more_when_its_last_fan_has_gone() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    fan.buy(&show, 0).await;
    let path = format!("/api/admin/schedules/{}/statistics", show.schedule);
    until("the sale is counted", async || {
        let counted = world.organiser.get(&path).await.expect(200);
        (counted["grades"][0]["sold"] == 1).then_some(())
    })
    .await;
    let course = format!("/api/admin/schedules/{}/course", show.schedule);
    assert_eq!(last_of(&world, &course).await, [19, 0, 1, PRICE]);
}
