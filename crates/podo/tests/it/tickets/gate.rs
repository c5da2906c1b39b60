//! The gate: which scans are refused and why, undo, attendance.

use super::{check_in, code_of, scan};
use crate::support::client::{Answer, Api, send, text};
use crate::support::world::{Plan, Show, World};
use podo_domain::identity::permissions::{Membership, TeamRole};
use reqwest::Method;
use serde_json::{Value, json};
use std::time::Duration;

/// A hall with the sections A and B, of ten seats each.
async fn two_sections(world: &World) -> Show {
    let section = |name: &str, y: i32| {
        json!({ "name": name, "grade": "VIP", "rows": [{ "label": "1", "count": 10,
                "line": { "x": 0, "y": y, "dx": 100, "dy": 0 } }] })
    };
    let template =
        json!({ "layoutType": "sections", "sections": [section("A", 0), section("B", 300)] });
    world.show_in(template, json!({ "VIP": 50_000 }), Plan::default()).await
}

async fn hall_of(world: &World, show: &Show) -> String {
    let event = world.organiser.get(&format!("/api/admin/events/{}", show.event)).await;
    let name = text(&event.expect(200), "hallName");
    let venues = world.organiser.get("/api/admin/venues").await.expect(200);
    let halls = venues["items"].as_array().unwrap().iter().flat_map(|it| it["halls"].as_array());
    let hall = halls.flatten().find(|hall| hall["name"] == name.as_str()).cloned();
    text(&hall.unwrap_or_else(|| panic!("{venues}")), "id")
}

async fn put(api: &Api, path: &str, body: &Value) -> Answer {
    send(api.call(Method::PUT, path).json(body)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ticket_for_another_gate_is_refused_with_the_name_of_its_gate() {
    let world = World::start().await;
    let show = two_sections(&world).await;
    let gates = json!({ "gates": [{ "name": "동문", "sections": ["A"] },
                                  { "name": "서문", "sections": ["B"] }, { "name": "VIP" }] });
    let path = format!("/api/admin/halls/{}/gates", hall_of(&world, &show).await);
    put(&world.organiser, &path, &gates).await.expect(204);
    let known = world.organiser.get(&format!("/api/admin/schedules/{}/gates", show.schedule)).await;
    assert_eq!(known.expect(200)["gates"][1]["sections"], json!(["B"]));
    let twice = json!({ "gates": [{ "name": "동문" }, { "name": "동문" }] });
    put(&world.organiser, &path, &twice).await.refused(409, "NAME_TAKEN");
    put(&world.organiser, &path, &json!({ "gates": [{ "name": " " }] }))
        .await
        .refused(422, "INVALID");
    let unknown = json!({ "gates": [{ "name": "북문", "sections": ["Z"] }] });
    let refused = put(&world.organiser, &path, &unknown).await.refused(422, "INVALID");
    assert_eq!(refused["errors"][0]["field"], "gates");
    let of_hall = world.organiser.get(&path).await.expect(200);
    assert_eq!(of_hall["gates"], known.expect(200)["gates"]);

    let fan = world.fan_inside(&show).await;
    let ticket = fan.buy(&show, 12).await.ticket;
    let code = code_of(&world, &fan, &ticket).await;
    let at = async |gate: &str| {
        world.organiser.post("/api/admin/checkin", &scan(&show, gate, &code)).await
    };
    let other = at("동문").await.refused(409, "TICKET_OTHER_GATE");
    assert_eq!(other["gates"], json!(["서문", "VIP"]));
    let opened = at("서문").await.expect(200);
    assert_eq!((&opened["section"], &opened["gate"]), (&json!("B"), &json!("서문")));
    assert!(opened["name"].is_string(), "{opened}");
    let used = at("VIP").await.refused(409, "TICKET_USED");
    assert_eq!(used["usedGate"], "서문");
    let path = format!("/api/admin/schedules/{}/attendance", show.schedule);
    let found = world.organiser.get(&path).await.expect(200);
    let sections = json!([{ "section": "A", "tickets": 0, "admitted": 0 },
                          { "section": "B", "tickets": 1, "admitted": 1 }]);
    assert_eq!(found["sections"], sections);
    let file = world.organiser.get(&format!("{path}.csv")).await;
    assert!(file.text.contains("section,\"B\",1,1,,"), "{}", file.text);
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scan_names_its_date_and_its_gate() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    let ticket = fan.buy(&show, 0).await.ticket;
    let code = code_of(&world, &fan, &ticket).await;
    for missing in ["scheduleId", "gate", "code"] {
        let mut body = scan(&show, "1", &code);
        body.as_object_mut().unwrap().remove(missing);
        let refused = world.organiser.post("/api/admin/checkin", &body).await;
        assert_eq!(refused.status, 422, "{}", refused.text);
        assert!(refused.text.contains(missing), "{}", refused.text);
    }
    check_in(&world.organiser, &show, &code).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_undone_check_in_opens_the_gate_again_and_is_counted() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let (fan, other) = (world.fan_inside(&show).await, world.fan_inside(&show).await);
    let ticket = fan.buy(&show, 0).await.ticket;
    other.buy(&show, 1).await;
    let code = code_of(&world, &fan, &ticket).await;
    let undo = json!({ "ticketId": ticket, "scheduleId": show.schedule, "gate": "1",
                       "reason": "앞사람 표를 찍었어요" });
    let path = "/api/admin/checkin/undo";
    world.organiser.post(path, &undo).await.refused(409, "TICKET_NOT_USED");
    check_in(&world.organiser, &show, &code).await.expect(200);
    fan.api.post(path, &undo).await.refused(403, "ADMIN_ONLY");
    let mut elsewhere = undo.clone();
    elsewhere["scheduleId"] = json!(world.show(Plan::default()).await.schedule);
    world.organiser.post(path, &elsewhere).await.refused(404, "NOT_FOUND");
    world.organiser.post(path, &undo).await.expect(204);
    check_in(&world.organiser, &show, &code).await.expect(200);

    let path = format!("/api/admin/schedules/{}/attendance", show.schedule);
    let found = world.organiser.get(&path).await.expect(200);
    assert_eq!((&found["tickets"], &found["admitted"]), (&json!(2), &json!(1)), "{found}");
    let gate = json!({ "gate": "1", "admitted": 2, "undone": 1, "doubles": 0 });
    assert_eq!(found["gates"], json!([gate]));
    let file = world.organiser.get(&format!("{path}.csv")).await;
    assert!(file.text.contains("gate,\"1\",,2,1,0"), "{}", file.text);
    world.finish().await;
}

/// The name of a gate is whatever the device sends.
#[tokio::test(flavor = "multi_thread")]
async fn a_gate_with_the_name_of_a_formula_runs_nothing_in_a_spreadsheet() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let names = ["=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "동문 \"1\""];
    for (seat, name) in (0..).zip(names) {
        let fan = world.fan_inside(&show).await;
        let ticket = fan.buy(&show, seat).await.ticket;
        let code = code_of(&world, &fan, &ticket).await;
        world.organiser.post("/api/admin/checkin", &scan(&show, name, &code)).await.expect(200);
    }
    let path = format!("/api/admin/schedules/{}/attendance.csv", show.schedule);
    let file = world.organiser.get(&path).await;
    for cell in ["'=cmd|' /C calc'!A0", "'+1", "'-1", "'@SUM(A1)", "동문 \"\"1\"\""] {
        assert!(file.text.contains(&format!("gate,\"{cell}\",,1,0,0\r\n")), "{}", file.text);
    }
    world.finish().await;
}

/// The shows that this caller's gate offers.
async fn shows_of(api: &Api) -> Vec<String> {
    let found = api.get("/api/admin/gate/shows").await.expect(200);
    found["items"].as_array().unwrap().iter().map(|it| text(it, "scheduleId")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gate_offers_shows_from_a_day_and_a_half_before_to_half_a_day_after_their_start() {
    let world = World::start().await;
    let starts_in =
        |hours: u64| Plan { starts_in: Duration::from_secs(hours * 3_600), ..Plan::default() };
    let (soon, later) = (world.show(starts_in(35)).await, world.show(starts_in(37)).await);
    let (soon, later) = (soon.schedule.to_string(), later.schedule.to_string());
    let owner = || world.member(Membership::preset(TeamRole::Owner));
    assert_eq!(shows_of(&owner().await).await, std::slice::from_ref(&soon));
    let hours = |n: u64| world.clock.advance(Duration::from_secs(n * 3_600));
    hours(2);
    assert_eq!(shows_of(&owner().await).await, [soon.clone(), later.clone()]);
    // The first began 11 hours ago, then 13.
    hours(44);
    assert_eq!(shows_of(&owner().await).await, [soon, later.clone()]);
    hours(2);
    assert_eq!(shows_of(&owner().await).await, [later]);
    hours(2);
    assert_eq!(shows_of(&owner().await).await, Vec::<String>::new());
}
