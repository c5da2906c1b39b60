//! Price changes over HTTP: planned, in force, withdrawn.

use crate::support::client::text;
use crate::support::world::{PRICE, Plan, Show, World};
use podo_domain::Timestamp;
use reqwest::Method;
use serde_json::{Value, json};
use std::time::Duration;

fn path(show: &Show) -> String {
    format!("/api/admin/schedules/{}/prices", show.schedule)
}

async fn grades(world: &World, show: &Show) -> Value {
    let public = format!("/api/schedules/{}", show.schedule);
    world.stranger.get(&public).await.expect(200)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_planned_change_is_announced_and_then_charged() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let before = grades(&world, &show).await;
    let grade = before["prices"].as_object().unwrap().keys().next().unwrap().clone();
    assert_eq!(before["prices"][&grade], PRICE);
    assert!(before["nextPrices"].is_null());

    let from = world.context().now().plus(Duration::from_secs(120));
    let body = json!({ "from": from, "prices": { &grade: 70_000 } });
    let view = world.organiser.post(&path(&show), &body).await.expect(200);
    assert_eq!(view["prices"][&grade], PRICE, "at first");
    assert_eq!(view["changes"][0]["prices"][&grade], 70_000);
    let planned = grades(&world, &show).await;
    assert_eq!(planned["prices"][&grade], PRICE);
    assert_eq!(planned["nextPrices"]["prices"][&grade], 70_000);
    let early = world.fan_inside(&show).await;
    let held = early.select(&show, &[0]).await.expect(201);
    assert_eq!(held["amount"], PRICE);

    world.clock.advance(Duration::from_secs(121));
    let now = grades(&world, &show).await;
    assert_eq!(now["prices"][&grade], 70_000);
    assert!(now["nextPrices"].is_null());
    let late = world.fan_inside(&show).await;
    assert_eq!(late.select(&show, &[1]).await.expect(201)["amount"], 70_000);
    let kept = format!("/api/booking/reservations/{}", text(&held, "reservationId"));
    assert_eq!(early.api.get(&kept).await.expect(200)["amount"], PRICE);
    let seats = format!("/api/booking/seats?scheduleId={}", show.schedule);
    let rows = late.api.get(&seats).await.expect(200);
    assert!(rows.to_string().contains("\"price\":70000"), "the list of seats has the new price");
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_changes_name_their_field_and_begun_ones_stay() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let public = grades(&world, &show).await;
    let grade = public["prices"].as_object().unwrap().keys().next().unwrap().clone();
    let add = async |body: Value| world.organiser.post(&path(&show), &body).await;

    let past = json!({ "from": "2020-01-01T00:00:00Z", "prices": { &grade: 70_000 } });
    let problem = add(past).await.refused(422, "INVALID_PRICE_CHANGE");
    assert_eq!(problem["errors"][0]["field"], "from");
    add(json!({ "prices": {} })).await.refused(422, "INVALID_TEMPLATE");
    add(json!({ "prices": { &grade: 0 } })).await.refused(422, "INVALID_TEMPLATE");
    add(json!({ "prices": { &grade: -1 } })).await.refused(422, "INVALID");

    let view = add(json!({ "prices": { &grade: 60_000 } })).await.expect(200);
    let begun: Timestamp = text(&view["changes"][0], "from").parse().unwrap();
    let withdraw = async |from: &Timestamp| {
        let path = format!("{}?from={}", path(&show), json!(from).as_str().unwrap());
        world.organiser.call(Method::DELETE, &path).send().await.unwrap().status().as_u16()
    };
    assert_eq!(withdraw(&begun).await, 409);
    let planned = begun.plus(Duration::from_secs(600));
    add(json!({ "from": planned, "prices": { &grade: 65_000 } })).await.expect(200);
    assert_eq!(withdraw(&planned.plus(Duration::from_secs(1))).await, 404);
    assert_eq!(withdraw(&planned).await, 200);
    let left = world.organiser.get(&path(&show)).await.expect(200);
    assert_eq!(left["changes"].as_array().unwrap().len(), 1);
    let stranger = world.fan().await;
    stranger.api.get(&path(&show)).await.refused(403, "ADMIN_ONLY");
    world.finish().await;
}
