//! The queue's proof of work, and bot signals.

use crate::support::client::{Answer, send, text};
use crate::support::fan::Fan;
use crate::support::world::{Plan, Show, World};
use podo_domain::waiting_room::proof_of_work::solve;
use reqwest::Method;
use serde_json::{Value, json};
use std::time::Duration;

const BITS: u8 = 8;

async fn show_with_proof_of_work(world: &World) -> Show {
    let plan = Plan::default();
    let show = world.show(plan).await;
    let mut settings = plan.queue("AUTO");
    settings["challengeBits"] = json!(BITS);
    let queue = format!("/api/admin/schedules/{}/queue", show.schedule);
    world.organiser.put(&queue, &settings).await.expect(200);
    settings["challengeBits"] = json!(25);
    world.organiser.put(&queue, &settings).await.refused(422, "INVALID");
    show
}

async fn enter_with(fan: &Fan, show: &Show, answer: &str) -> Answer {
    let call = fan.api.call(Method::POST, "/api/queue/enter");
    let body = json!({ "scheduleId": show.schedule });
    send(call.header("Challenge-Answer", answer).json(&body)).await
}

fn proof_of_work(refused: &Answer) -> Value {
    refused.refused(403, "CHALLENGE_REQUIRED")["challenge"].clone()
}

fn solved(proof_of_work: &Value) -> String {
    let salt = text(proof_of_work, "salt");
    let number = solve(&salt, u8::try_from(proof_of_work["bits"].as_u64().unwrap()).unwrap());
    format!("{salt}.{number}")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fan_who_solves_the_proof_of_work_enters_and_keeps_the_place() {
    let world = World::start().await;
    let show = show_with_proof_of_work(&world).await;
    let (fan, other) = (world.fan().await, world.fan().await);
    let asked = proof_of_work(&fan.enter(&show).await);
    assert_eq!(asked["bits"], BITS);
    let answer = solved(&asked);
    proof_of_work(&enter_with(&other, &show, &answer).await);
    proof_of_work(&enter_with(&fan, &show, "nonsense").await);
    let (salt, number) = answer.split_once('.').unwrap();
    let wrong = (0..)
        .find(|it| !podo_domain::waiting_room::proof_of_work::is_solved(salt, *it, BITS))
        .unwrap();
    assert_ne!(number, wrong.to_string());
    proof_of_work(&enter_with(&fan, &show, &format!("{salt}.{wrong}")).await);
    let view = enter_with(&fan, &show, &answer).await.expect(200);
    // The place token replaces the proof of work.
    let call = fan.api.call(Method::POST, "/api/queue/enter");
    let call = call.header("Queue-Token", text(&view, "token"));
    send(call.json(&json!({ "scheduleId": show.schedule }))).await.expect(200);
    let late = solved(&proof_of_work(&other.enter(&show).await));
    world.clock.advance(Duration::from_secs(301));
    proof_of_work(&enter_with(&other, &show, &late).await);
}

async fn signals(fan: &Fan) -> Vec<Value> {
    let found = fan.api.get("/api/users/me/signals").await.expect(200);
    found["items"].as_array().unwrap().clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_suspected_bot_sees_the_signal_and_can_appeal() {
    let world = World::start().await;
    let show = show_with_proof_of_work(&world).await;
    let (fan, other) = (world.fan().await, world.fan().await);
    let asked = proof_of_work(&fan.enter(&show).await);
    assert_eq!(signals(&fan).await, [] as [Value; 0]);
    for _ in 0..3 {
        proof_of_work(&enter_with(&fan, &show, &format!("{}.x", text(&asked, "salt"))).await);
    }
    let noted = signals(&fan).await;
    assert_eq!(noted.len(), 1, "{noted:?}");
    assert_eq!((&noted[0]["kind"], &noted[0]["seen"]), (&json!("FORGED_ANSWER"), &json!(1)));
    world.clock.advance(Duration::from_secs(61));
    proof_of_work(&enter_with(&fan, &show, "AAAA.1").await);
    assert_eq!(signals(&fan).await[0]["seen"], 2);
    let id = text(&noted[0], "id");
    let path = format!("/api/users/me/signals/{id}/appeal");
    let appeal = json!({ "text": "제 손으로 눌렀어요" });
    other.api.post(&path, &appeal).await.refused(404, "NOT_FOUND");
    let open = async || {
        let list = world.organiser.get("/api/admin/signals?appealed=true").await.expect(200);
        list["items"].as_array().unwrap().clone()
    };
    assert!(open().await.is_empty());
    fan.api.post(&path, &appeal).await.expect(204);
    assert_eq!(open().await[0]["appeal"], "제 손으로 눌렀어요");
    let verdict = format!("/api/admin/signals/{id}/verdict");
    let lifted = json!({ "verdict": "LIFTED" });
    fan.api.post(&verdict, &lifted).await.refused(403, "ADMIN_ONLY");
    world.organiser.post(&verdict, &lifted).await.expect(204);
    assert!(open().await.is_empty());
    assert_eq!(signals(&fan).await[0]["verdict"], "LIFTED");
    fan.api.post(&path, &appeal).await.refused(404, "NOT_FOUND");
    let all = world.organiser.get("/api/admin/signals").await.expect(200);
    assert_eq!(all["items"].as_array().unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn seats_that_are_paid_for_in_a_blink_are_noted_and_sold() {
    let limits = [("PODO_LIMITS", "on"), ("PODO_REQUESTS_PER_SECOND_PER_IP", "100000")];
    let world = World::with(&limits).await;
    let show = world.show(Plan::default()).await;
    let (quick, slow) = (world.fan_inside(&show).await, world.fan_inside(&show).await);
    quick.buy(&show, 0).await;
    let reservation = slow.hold(&show, &[1]).await;
    world.clock.advance(Duration::from_secs(2));
    slow.ready(&reservation, "WALLET").await;
    assert_eq!(signals(&quick).await[0]["kind"], "PAYS_TOO_FAST");
    assert!(signals(&slow).await.is_empty());
}
