//! Organisers' actions and their access to personal data are in the audit log, without exception.

use crate::support::client::{Answer, send, text};
use crate::support::fan::Fan;
use crate::support::world::{PRICE, Plan, Show, World};
use podo_app::tickets::holders;
use podo_domain::identity::bot_signals::SignalKind;
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

/// POST routes that change nothing.
const CHANGES_NOTHING: [&str; 1] = ["POST /api/admin/layouts/preview"];

/// An organiser whose every call must be audited.
struct Diary<'w> {
    world: &'w World,
    n_entries: i64,
    done: BTreeSet<String>,
}

impl Diary<'_> {
    /// Makes a call; `template` is the route in the OpenAPI document.
    async fn does(&mut self, method: Method, template: &str, id: &str, body: Value) -> Value {
        let path = template.replace("{id}", id);
        let key = format!("audit-{}", self.done.len());
        let call = self.world.organiser.call(method.clone(), &path);
        let answer = send(call.header("Idempotency-Key", key).json(&body)).await;
        assert!((200..300).contains(&answer.status), "{method} {path}: {}", answer.text);
        let n_entries = n_entries(self.world).await;
        assert!(n_entries >= self.n_entries + 2, "{method} {template}: a call and its effect");
        self.n_entries = n_entries;
        self.done.insert(format!("{method} {template}"));
        serde_json::from_str(&answer.text).unwrap_or(Value::Null)
    }
}

/// The length of the chain, read without adding to it.
async fn n_entries(world: &World) -> i64 {
    let findings = world.findings().await;
    let chain = findings.iter().find(|finding| finding.id == "I24").unwrap();
    assert_eq!(chain.n_broken, 0);
    chain.n_checked.try_into().unwrap()
}

async fn changing_routes(world: &World) -> BTreeSet<String> {
    let document = world.stranger.get("/api/openapi.json").await.expect(200);
    let paths = document["paths"].as_object().unwrap().iter();
    let ours = paths.filter(|(template, _)| template.starts_with("/api/admin/"));
    let routes = ours.flat_map(|(template, methods)| {
        let methods = methods.as_object().unwrap().keys();
        methods.map(move |method| format!("{} {template}", method.to_uppercase()))
    });
    routes.filter(|it| !it.starts_with("GET") && !CHANGES_NOTHING.contains(&it.as_str())).collect()
}

fn template() -> Value {
    json!({ "layoutType": "grid", "rows": ["A"], "seatsPerRow": 3, "gradeMapping": { "A": "VIP" } })
}

fn schedule(world: &World) -> Value {
    let day = Duration::from_secs(24 * 60 * 60);
    let opens_at = world.context().now().plus(day);
    json!({ "startsAt": opens_at.plus(day * 30), "endsAt": opens_at.plus(day * 31),
        "saleStartsAt": opens_at, "saleEndsAt": opens_at.plus(day * 29),
        "prices": { "VIP": PRICE } })
}

/// Creates and deletes a venue, a hall, an event and its dates.
async fn organise(diary: &mut Diary<'_>) {
    let name = json!({ "name": "새 이름" });
    let venue = json!({ "name": "홀", "address": "길", "city": "서울" });
    let venue = text(&diary.does(Method::POST, "/api/admin/venues", "", venue).await, "id");
    diary.does(Method::PATCH, "/api/admin/venues/{id}", &venue, name.clone()).await;
    let hall = json!({ "name": "홀", "seatTemplate": template() });
    let halls = "/api/admin/venues/{id}/halls";
    let hall = text(&diary.does(Method::POST, halls, &venue, hall).await, "id");
    diary.does(Method::PATCH, "/api/admin/halls/{id}", &hall, name).await;
    let event = json!({ "title": "공연", "artist": "포도", "venueId": venue, "hallId": hall });
    let event = text(&diary.does(Method::POST, "/api/admin/events", "", event).await, "id");
    let title = json!({ "title": "새 공연" });
    diary.does(Method::PATCH, "/api/admin/events/{id}", &event, title).await;
    let policy = json!({ "steps": [] });
    diary.does(Method::PUT, "/api/admin/events/{id}/refund-policy", &event, policy).await;
    let body = schedule(diary.world);
    let schedules = "/api/admin/events/{id}/schedules";
    let date = text(&diary.does(Method::POST, schedules, &event, body).await, "id");
    let limit = json!({ "seatsPerPerson": 2 });
    diary.does(Method::PATCH, "/api/admin/schedules/{id}", &date, limit).await;
    let queue = Plan::default().queue("AUTO");
    diary.does(Method::PUT, "/api/admin/schedules/{id}/queue", &date, queue).await;
    diary.does(Method::DELETE, "/api/admin/schedules/{id}", &date, json!({})).await;
    diary.does(Method::DELETE, "/api/admin/events/{id}", &event, json!({})).await;
    diary.does(Method::DELETE, "/api/admin/halls/{id}", &hall, json!({})).await;
    diary.does(Method::DELETE, "/api/admin/venues/{id}", &venue, json!({})).await;
}

async fn note_signal(world: &World, fan: &Fan, show: &Show) {
    let (context, kind) = (world.context(), SignalKind::AsksTooFast);
    podo_app::identity::bot_signals::note(
        context,
        fan.id,
        show.schedule,
        kind,
        "a test".to_owned(),
    )
    .await;
}

/// Runs a sale: opens it, admits a fan, refunds, cancels.
async fn sell(diary: &mut Diary<'_>) {
    let world = diary.world;
    let show = world.show(Plan::default()).await;
    let (other, third) = (world.show(Plan::default()).await, world.show(Plan::default()).await);
    diary.n_entries = n_entries(world).await;
    let (fan, other_fan) = (world.fan_inside(&show).await, world.fan_inside(&show).await);
    let (used, returned) = (fan.buy(&show, 0).await, other_fan.buy(&show, 1).await);
    let ticket = used.ticket.parse().unwrap();
    let ticket = holders::my_ticket(world.context(), fan.id, ticket).await.unwrap();
    let scan = json!({ "code": holders::qr_text(world.context(), &ticket),
                       "scheduleId": show.schedule, "gate": "1" });
    diary.does(Method::POST, "/api/admin/checkin", "", scan).await;
    let undo = json!({ "ticketId": ticket.id, "scheduleId": show.schedule, "gate": "1",
                       "reason": "잘못 찍었어요" });
    diary.does(Method::POST, "/api/admin/checkin/undo", "", undo).await;
    let offline = json!({ "scans": [{ "id": ticket.reservation_id, "ticketId": ticket.id,
                                      "gate": "2", "scannedAt": "2026-01-01T00:00:00Z" }] });
    let schedule = show.schedule.to_string();
    diary.does(Method::POST, "/api/admin/schedules/{id}/scans", &schedule, offline).await;
    let reason = json!({ "reason": "무대가 안 보여요" });
    let refund = "/api/admin/payments/{id}/refund";
    diary.does(Method::POST, refund, &returned.payment, reason).await;
    let gift = json!({ "amount": PRICE, "reason": "사과" });
    diary.does(Method::POST, "/api/admin/users/{id}/wallet", &fan.id.to_string(), gift).await;
    let staff = json!({ "role": "STAFF" });
    diary.does(Method::PUT, "/api/admin/users/{id}/role", &fan.id.to_string(), staff).await;
    note_signal(world, &fan, &show).await;
    let signals = fan.api.get("/api/users/me/signals").await;
    let signal = text(&signals.expect(200)["items"][0], "id");
    let lifted = json!({ "verdict": "LIFTED" });
    diary.does(Method::POST, "/api/admin/signals/{id}/verdict", &signal, lifted).await;
    let crowd = json!({ "scheduleId": third.schedule, "fans": 1, "seconds": 0 });
    diary.does(Method::POST, "/api/admin/simulation", "", crowd).await;
    diary.does(Method::DELETE, "/api/admin/simulation", "", json!({})).await;
    let date = show.schedule.to_string();
    diary.does(Method::POST, "/api/admin/schedules/{id}/cancel", &date, json!({})).await;
    diary.does(Method::POST, "/api/admin/events/{id}/end", &other.event, json!({})).await;
    diary.does(Method::POST, "/api/admin/events/{id}/cancel", &third.event, json!({})).await;
    diary.done.insert("POST /api/admin/events/{id}/open".to_owned());
}

#[tokio::test(flavor = "multi_thread")]
async fn every_change_by_an_organiser_leaves_an_entry() {
    let world = World::start().await;
    let mut diary = Diary { world: &world, n_entries: 0, done: BTreeSet::new() };
    organise(&mut diary).await;
    sell(&mut diary).await;
    let routes = changing_routes(&world).await;
    assert!(diary.done.is_subset(&routes), "{:?}", diary.done);
    // All remaining routes: calling them is audited, even if it is refused.
    for route in routes.difference(&diary.done) {
        let before = n_entries(&world).await;
        let (method, template) = route.split_once(' ').unwrap();
        let path = template.replace("{id}", "0190a000-0000-7000-8000-000000000000");
        let call = world.organiser.call(method.parse().unwrap(), &path);
        send(call.header("Idempotency-Key", "audit").json(&json!({}))).await;
        assert_eq!(n_entries(&world).await, before + 1, "{route} left no entry");
    }
    let opened = log(&world, "action=event.open").await;
    assert_eq!(opened["items"].as_array().unwrap().len(), 3, "{opened}");
}

async fn log(world: &World, query: &str) -> Value {
    world.organiser.get(&format!("/api/admin/audit?{query}")).await.expect(200)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_look_at_personal_data_leaves_an_entry_without_the_data() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    let path = format!("/api/admin/schedules/{}/queue/history", show.schedule);
    let look = async |query: &str| world.organiser.get(&format!("{path}?{query}")).await;
    look(&format!("userId={}", fan.id)).await.expect(200);
    look("limit=many@podo.kr").await.refused(422, "INVALID");
    let live = format!("/api/admin/schedules/{}/live", show.schedule);
    world.organiser.get(&live).await.expect(200);
    fan.api.get(&path).await.refused(403, "ADMIN_ONLY");
    let looks = log(&world, &format!("action=read&subject={path}")).await;
    let looks = looks["items"].as_array().unwrap();
    assert_eq!(looks.len(), 2, "{looks:?}");
    assert_eq!(looks[0]["details"]["query"], json!({ "limit": "***" }));
    assert_eq!(looks[1]["details"]["query"]["userId"], fan.id.to_string());
    assert_eq!(looks[1]["details"]["ip"], "127.0.0.1");
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_is_read_in_pages_filtered_and_exported() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let first = log(&world, "limit=2").await;
    let cursor = text(&first, "nextCursor");
    let next = log(&world, &format!("limit=2&cursor={cursor}")).await;
    let seq = |page: &Value, index: usize| page["items"][index]["seq"].as_i64().unwrap();
    assert_eq!(seq(&first, 1) - 1, seq(&next, 0), "no entry is missed or shown twice");
    let of_event = log(&world, &format!("subject={}&action=event", show.event)).await;
    let actions: Vec<_> =
        of_event["items"].as_array().unwrap().iter().map(|it| text(it, "action")).collect();
    assert_eq!(actions, ["event.open", "event.create"]);
    let no_entries = log(&world, "actorId=0190a000-0000-7000-8000-000000000000").await;
    assert_eq!(no_entries["items"], json!([]));
    let future = log(&world, "from=2199-01-01T00:00:00Z").await;
    assert_eq!(future["items"], json!([]));
    let export = async |query: &str| -> Answer {
        world.organiser.get(&format!("/api/admin/audit?format=csv{query}")).await
    };
    export("").await.refused(422, "INVALID");
    let file = export("&reason=quarterly").await;
    file.expect(200);
    assert_eq!(file.header("content-type"), "text/csv; charset=utf-8");
    assert!(file.text.lines().count() > 5 && file.text.contains("\"event.open\""), "{}", file.text);
    let reads = log(&world, "action=read&limit=3").await;
    assert_eq!(reads["items"][1]["details"]["query"]["reason"], "quarterly");
}
