//! A violated money invariant stops the sale of that date, and of no other.

use crate::engine;
use crate::support::world::{Plan, World};
use serde_json::{Value, json};

async fn run_check(world: &World) -> Value {
    world.organiser.post("/api/admin/jobs/verify/run", &json!({})).await.expect(200)
}

async fn shown(world: &World) -> Value {
    world.organiser.get("/api/admin/verify").await.expect(200)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_date_whose_money_is_wrong_is_not_sold_on_and_every_other_is() {
    let world = World::start().await;
    let (show, other) = (world.show(Plan::default()).await, world.show(Plan::default()).await);
    let buyer = world.fan_inside(&show).await;
    buyer.buy(&show, 0).await;
    let (fan, neighbour) = (world.fan_inside(&show).await, world.fan_inside(&other).await);

    // The control: while every invariant holds, no sale is stopped.
    let round = run_check(&world).await;
    assert_eq!(round["failed"], 0, "{}", shown(&world).await);
    assert!(round["done"].as_u64().unwrap() >= 18, "{round}");
    let verified = shown(&world).await;
    assert_eq!((&verified["last"]["broken"], &verified["stopped"]), (&json!(0), &json!([])));
    fan.hold(&show, &[1]).await;

    engine::lose_a_payment(world._folder.as_ref().unwrap().path());
    assert!(run_check(&world).await["failed"].as_u64().unwrap() > 0);
    let verified = shown(&world).await;
    assert_eq!(verified["stopped"][0]["scheduleId"], show.schedule.to_string(), "{verified}");
    assert_eq!(verified["stopped"].as_array().unwrap().len(), 1, "{verified}");
    let findings = verified["last"]["findings"].as_array().unwrap();
    let money = findings.iter().find(|finding| finding["id"] == "I8").unwrap();
    assert_eq!(money["nBroken"], 1, "{money}");
    let metrics = world.stranger.get("/metrics").await.text;
    assert!(metrics.contains("podo_invariants_broken{invariant=\"I8\"} 1"), "{metrics}");
    assert!(metrics.contains("podo_sales_stopped 1"), "{metrics}");

    fan.select(&show, &[2]).await.refused(409, "SALE_STOPPED");
    neighbour.select(&other, &[2]).await.expect(201);

    let resume = format!("/api/admin/schedules/{}/resume-sale", show.schedule);
    assert_eq!(world.organiser.post(&resume, &json!({})).await.status, 204);
    fan.select(&show, &[2]).await.expect(201);
    let log = world.organiser.get("/api/admin/audit?action=schedule.stop-sale").await;
    assert_eq!(log.expect(200)["items"].as_array().unwrap().len(), 1);
    world.abandon();
}
