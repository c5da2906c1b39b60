//! A draw sale over HTTP: from its setup to tickets, its proof, and the plain pages.

use crate::identity::admin_sessions::notification;
use crate::support::client::{Answer, send, text};
use crate::support::fan::Fan;
use crate::support::world::{Plan, Show, World, until};
use podo_domain::Timestamp;
use reqwest::Method;
use serde_json::{Value, json};
use std::process::Command;
use std::time::Duration;

const MINUTE: Duration = Duration::from_secs(60);

/// A date whose sale opens in four minutes, with a phase for winners from then on, and its draw of
/// two seats in two minutes.
pub(crate) struct Sale {
    show: Show,
    pub(crate) phase: String,
}

async fn show(world: &World) -> (Show, Timestamp, String) {
    let plan = Plan { opens_in: MINUTE * 4, ..Plan::default() };
    let show = world.show(plan).await;
    let view = world.stranger.get(&format!("/api/schedules/{}", show.schedule)).await.expect(200);
    let opens_at: Timestamp = serde_json::from_value(view["saleStartsAt"].clone()).unwrap();
    let phase = json!({ "name": "팬클럽 추첨", "nameEn": "Fan club draw", "startsAt": opens_at,
        "endsAt": opens_at.plus(MINUTE * 300), "audience": "DRAWN", "seatsPerPerson": 2 });
    let path = format!("/api/admin/schedules/{}/phases", show.schedule);
    let made = world.organiser.put(&path, &json!({ "phases": [phase] })).await.expect(200);
    let id = text(&made["items"][0], "id");
    (show, opens_at.minus(MINUTE * 4), id)
}

fn terms(from: Timestamp, until: Timestamp) -> Value {
    json!({ "applyFrom": from, "applyUntil": until, "seatsMax": 2, "offerMinutes": 10,
        "quantities": { "VIP": 2 } })
}

async fn put_draw(world: &World, phase: &str, terms: &Value) -> Answer {
    world.organiser.put(&format!("/api/admin/phases/{phase}/draw"), terms).await
}

pub(crate) async fn sale(world: &World) -> Sale {
    let (show, now, phase) = show(world).await;
    put_draw(world, &phase, &terms(now.minus(MINUTE), now.plus(MINUTE * 2))).await.expect(200);
    Sale { show, phase }
}

fn application(phase: &str) -> String {
    format!("/api/booking/phases/{phase}/application")
}

pub(crate) async fn apply(fan: &Fan, phase: &str, count: u32) -> Answer {
    let body = json!({ "grade": "VIP", "count": count });
    fan.api.put(&application(phase), &body).await
}

pub(crate) async fn mine(fan: &Fan, phase: &str) -> Value {
    fan.api.get(&application(phase)).await.expect(200)
}

pub(crate) async fn wait_for(fan: &Fan, phase: &str, state: &str) -> Value {
    let what = format!("the application is {state}");
    until(&what, async || {
        let mine = mine(fan, phase).await;
        (mine["state"] == state).then_some(mine)
    })
    .await
}

/// The fan with the first place, and the others in the drawn order.
async fn in_order(fans: Vec<Fan>, phase: &str) -> Vec<Fan> {
    let mut placed = Vec::new();
    for fan in fans {
        let place = mine(&fan, phase).await["place"].as_u64().expect("a place");
        placed.push((place, fan));
    }
    placed.sort_by_key(|(place, _)| *place);
    placed.into_iter().map(|(_, fan)| fan).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn winners_of_a_draw_buy_in_its_order_and_anybody_can_check_it() {
    let world = World::start().await;
    let Sale { show, phase } = sale(&world).await;
    let fans = world.fans(3).await;
    for fan in &fans {
        fan.api.get(&application(&phase)).await.refused(404, "NOT_FOUND");
        let applied = apply(fan, &phase, 2).await.expect(200);
        assert_eq!((&applied["state"], &applied["count"]), (&json!("APPLIED"), &json!(2)));
    }
    assert_eq!(apply(&fans[1], &phase, 1).await.expect(200)["index"], 1, "a change");
    notification(&world, "추첨 응모를 접수했어요", 4).await;
    fans[1].api.delete(&application(&phase)).await.expect(204);
    assert_eq!(mine(&fans[1], &phase).await["state"], "WITHDRAWN");
    apply(&fans[1], &phase, 2).await.expect(200);
    // No waiting room, and no list before the draw.
    fans[0].enter(&show).await.refused(403, "DRAW_ONLY");
    let proof = format!("/api/booking/draws/{phase}");
    let before = world.stranger.get(&proof).await.expect(200);
    assert_eq!((before.get("seed"), before.get("drawn")), (None, None), "{before}");
    let list = format!("{proof}/applications");
    world.stranger.get(&list).await.refused(409, "DRAW_PENDING");

    world.clock.advance(MINUTE * 2);
    for fan in &fans {
        wait_for(fan, &phase, "DRAWN").await;
    }
    apply(&fans[0], &phase, 1).await.refused(409, "DRAW_CLOSED");
    let mut order = in_order(fans, &phase).await;
    assert_eq!(mine(&order[0], &phase).await["wins"], true);
    assert_eq!(mine(&order[1], &phase).await["wins"], false);
    world.clock.advance(MINUTE * 2);
    let offered = wait_for(&order[0], &phase, "OFFERED").await;
    let offer = &offered["offer"];
    assert_eq!((&offer["status"], &offer["seats"].as_array().unwrap().len()), (&json!("HELD"), &2));
    notification(&world, "추첨에 당첨됐어요", 1).await;
    notification(&world, "추첨 결과를 알려 드려요", 2).await;
    order[0].api.delete(&application(&phase)).await.refused(409, "DRAW_OFFERED");
    order[1].enter(&show).await.refused(403, "DRAW_ONLY");

    // The first lets the offer lapse; the second takes it; nothing is left for the third.
    world.clock.advance(MINUTE * 11);
    wait_for(&order[0], &phase, "LAPSED").await;
    let offered = wait_for(&order[1], &phase, "OFFERED").await;
    pay(&order[1], &offered["offer"]).await;
    wait_for(&order[1], &phase, "TAKEN").await;
    assert_eq!(mine(&order[2], &phase).await["state"], "DRAWN");
    check_progress(&world, &show).await;
    check_proof(&world, &proof).await;
    order.clear();
    world.finish().await;
}

/// Pays for an offer of any size from the wallet.
async fn pay(fan: &Fan, offer: &Value) {
    fan.charge(1_000_000).await;
    let body = json!({ "reservationId": offer["id"], "amount": offer["amount"] });
    fan.api.post_new("/api/payment/wallet", &body).await.expect(200);
}

async fn check_progress(world: &World, show: &Show) {
    let path = format!("/api/admin/schedules/{}/phases", show.schedule);
    let shown = world.organiser.get(&path).await.expect(200)["items"][0]["draw"].take();
    assert_eq!(shown["applied"], 3);
    let expected = json!({ "grade": "VIP", "quantity": 2, "applications": 3, "askedFor": 6,
        "offered": 0, "taken": 2, "waiting": 2 });
    assert_eq!(shown["grades"], json!([expected]));
}

/// Runs the program on what is published.
async fn check_proof(world: &World, proof: &str) {
    let view = world.stranger.get(proof).await.expect(200);
    let answer = world.stranger.get(&format!("{proof}/applications")).await;
    assert_eq!(answer.header("content-type"), "text/csv; charset=utf-8");
    let folder = tempfile::tempdir().unwrap();
    let fair = folder.path().join("fair.csv");
    std::fs::write(&fair, &answer.text).unwrap();
    let verify = |file: &std::path::Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_podo"));
        command.args(["verify-draw", "--seed", &text(&view, "seed")]);
        command.args(["--hash", &text(&view, "seedHash"), "--list-hash", &text(&view, "listHash")]);
        command.args(["--drawn", &view["drawn"].to_string(), "--quantity", "VIP=2"]);
        let done = command.arg("--applications").arg(file).output().unwrap();
        (done.status.success(), String::from_utf8(done.stdout).unwrap())
    };
    let (is_fair, said) = verify(&fair);
    assert!(is_fair && said.contains("1 of 3 applications win"), "{said}\n{}", answer.text);
    let forged = folder.path().join("forged.csv");
    std::fs::write(&forged, answer.text.replace(",VIP,2,1,", ",VIP,1,1,")).unwrap();
    let (is_fair, said) = verify(&forged);
    assert!(!is_fair && said.contains("applications were changed"), "{said}");
    let jumped = answer.text.replace(",1,LAPSED", ",1,DRAWN");
    std::fs::write(&forged, jumped).unwrap();
    let (is_fair, said) = verify(&forged);
    assert!(!is_fair && said.contains("before its turn"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_application_for_more_seats_than_are_left_waits_and_is_then_passed_over() {
    let world = World::start().await;
    let (_, now, phase) = show(&world).await;
    let mut three = terms(now.minus(MINUTE), now.plus(MINUTE * 2));
    three["quantities"] = json!({ "VIP": 3 });
    put_draw(&world, &phase, &three).await.expect(200);
    let fans = world.fans(3).await;
    for fan in &fans {
        apply(fan, &phase, 2).await.expect(200);
    }
    world.clock.advance(MINUTE * 2);
    for fan in &fans {
        wait_for(fan, &phase, "DRAWN").await;
    }
    let order = in_order(fans, &phase).await;
    world.clock.advance(MINUTE * 2);
    let offered = wait_for(&order[0], &phase, "OFFERED").await;
    // One seat is left; the offer may come back, so the second keeps its turn.
    assert_eq!(mine(&order[1], &phase).await["state"], "DRAWN");
    pay(&order[0], &offered["offer"]).await;
    wait_for(&order[1], &phase, "PASSED").await;
    wait_for(&order[2], &phase, "PASSED").await;
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_terms_and_applications_name_their_field_and_change_nothing() {
    let world = World::start().await;
    let (show, now, phase) = show(&world).await;
    let fan = world.fan().await;
    world.stranger.get(&format!("/api/booking/draws/{phase}")).await.refused(404, "NOT_FOUND");
    apply(&fan, &phase, 1).await.refused(404, "NOT_FOUND");
    let good = terms(now.plus(MINUTE), now.plus(MINUTE * 3));
    let with = |field: &str, value: Value| {
        let mut changed = good.clone();
        changed[field] = value;
        changed
    };
    for (terms, field) in [
        (with("applyUntil", json!(now)), "applyUntil"),
        (with("applyUntil", json!(now.plus(MINUTE * 5))), "applyUntil"),
        (with("seatsMax", json!(3)), "seatsMax"),
        (with("offerMinutes", json!(5)), "offerMinutes"),
        (with("quantities", json!({})), "quantities"),
        (with("quantities", json!({ "VIP": 21 })), "quantities.VIP"),
        (with("quantities", json!({ "R": 1 })), "quantities.R"),
    ] {
        let problem = put_draw(&world, &phase, &terms).await.refused(422, "INVALID_DRAW");
        assert_eq!(problem["errors"][0]["field"], field, "{problem}");
    }
    put_draw(&world, &phase, &good).await.expect(200);
    let problem = apply(&fan, &phase, 1).await.refused(409, "DRAW_NOT_OPEN");
    assert_eq!(problem["opensAt"], json!(now.plus(MINUTE)));
    world.clock.advance(MINUTE);
    apply(&fan, &phase, 3).await.refused(422, "TOO_MANY_SEATS");
    apply(&fan, &phase, 0).await.refused(422, "NO_SEATS");
    let body = json!({ "grade": "S", "count": 1 });
    fan.api.put(&application(&phase), &body).await.refused(422, "UNKNOWN_GRADE");
    fan.api.get(&application(&phase)).await.refused(404, "NOT_FOUND");
    put_draw(&world, &phase, &with("seatsMax", json!(1))).await.refused(409, "DRAW_BEGUN");
    let path = format!("/api/admin/schedules/{}/phases", show.schedule);
    let removed = world.organiser.put(&path, &json!({ "phases": [] })).await;
    removed.refused(409, "DRAW_BEGUN");
    let body = json!({ "code": "ABCD" });
    let verify = format!("/api/booking/phases/{phase}/verify");
    fan.api.post(&verify, &body).await.refused(403, "DRAW_ONLY");
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fan_without_scripts_applies_changes_and_sees_the_offer() {
    let world = World::start().await;
    let Sale { show, phase } = sale(&world).await;
    let event = world.stranger.get(&format!("/events/{}", show.event)).await;
    let address = format!("/queue/{phase}/apply");
    assert!(event.text.contains(&address), "{}", event.text);
    let asked = world.stranger.get(&address).await;
    assert!(asked.text.contains("/enter?next=/queue/"), "{}", asked.text);
    let fan = world.fan().await;
    let cookie = format!("__Host-podo_access={}", fan.api.token());
    let submit = async |fields: &[(&str, &str)]| {
        let call = world.stranger.call(Method::POST, &address).header("Cookie", &cookie);
        send(call.form(fields)).await.text
    };
    let wrong = submit(&[("grade", "S"), ("count", "1")]).await;
    assert!(wrong.contains("role=\"alert\"") && wrong.contains("name=\"grade\""), "{wrong}");
    let applied = submit(&[("grade", "VIP"), ("count", "2")]).await;
    assert!(applied.contains("응모했어요") && applied.contains("응모 취소"), "{applied}");
    let withdrawn = submit(&[("withdraw", "1")]).await;
    assert!(withdrawn.contains("응모를 취소했어요"), "{withdrawn}");
    submit(&[("grade", "VIP"), ("count", "1")]).await;
    assert_eq!(mine(&fan, &phase).await["count"], 1);
    world.clock.advance(MINUTE * 5);
    let offered = wait_for(&fan, &phase, "OFFERED").await;
    let page = world.stranger.call(Method::GET, &address).header("Cookie", &cookie);
    let page = send(page).await.text;
    let checkout = format!("/#/checkout/{}", text(&offered["offer"], "id"));
    assert!(page.contains(&checkout) && page.contains("시드"), "{page}");
    world.finish().await;
}
