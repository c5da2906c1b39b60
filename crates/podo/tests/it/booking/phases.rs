//! Sale phases over HTTP: verification before the opening, one waiting room each, limits.

use crate::identity::admin_sessions::notification;
use crate::support::client::{Answer, send, text};
use crate::support::fan::Fan;
use crate::support::world::{Plan, Show, World};
use podo_app::identity::port::accounts::ProveIdentity;
use podo_domain::Timestamp;
use reqwest::Method;
use serde_json::{Value, json};
use std::time::Duration;

const MINUTE: Duration = Duration::from_secs(60);

/// A date whose sale opens in a minute.
async fn show(world: &World) -> (Show, Timestamp) {
    let show =
        world.show(Plan { opens_in: MINUTE, entry_ttl_seconds: 3_600, ..Plan::default() }).await;
    let view = world.stranger.get(&format!("/api/schedules/{}", show.schedule)).await.expect(200);
    assert_eq!(view["phases"], json!([]), "a date has no phases of its own");
    let opens_at: Timestamp = serde_json::from_value(view["saleStartsAt"].clone()).unwrap();
    (show, opens_at)
}

fn phase(from: Timestamp, to: Timestamp, audience: &str) -> Value {
    json!({ "name": "선예매", "nameEn": "Presale", "startsAt": from, "endsAt": to,
        "audience": audience, "seatsPerPerson": 2 })
}

async fn put_phases(world: &World, show: &Show, phases: &[Value]) -> Answer {
    let path = format!("/api/admin/schedules/{}/phases", show.schedule);
    world.organiser.put(&path, &json!({ "phases": phases })).await
}

/// A presale of ten minutes, then at once a sale for everybody; returns the ids.
pub(crate) async fn presale(world: &World, audience: &str) -> (Show, [String; 2]) {
    let (show, opens_at) = show(world).await;
    let (second, end) = (opens_at.plus(MINUTE * 10), opens_at.plus(MINUTE * 60));
    let phases = [phase(opens_at, second, audience), phase(second, end, "EVERYBODY")];
    let made = put_phases(world, &show, &phases).await.expect(200);
    let id = |index: usize| text(&made["items"][index], "id");
    (show, [id(0), id(1)])
}

pub(crate) async fn my_phases(fan: &Fan, show: &Show) -> Value {
    let path = format!("/api/booking/phases?scheduleId={}", show.schedule);
    fan.api.get(&path).await.expect(200)["items"].take()
}

pub(crate) async fn verify(fan: &Fan, phase: &str, body: &Value) -> Answer {
    fan.api.post(&format!("/api/booking/phases/{phase}/verify"), body).await
}

async fn codes(world: &World, phase: &str, body: &Value) -> Answer {
    world.organiser.post(&format!("/api/admin/phases/{phase}/codes"), body).await
}

pub(crate) async fn upload(world: &World, phase: &str, csv: Vec<u8>) -> Answer {
    let path = format!("/api/admin/phases/{phase}/members");
    let request = world.organiser.call(Method::POST, &path);
    send(request.header("Content-Type", "text/csv").body(csv)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fan_verifies_early_and_buys_in_the_presale_without_typing_anything() {
    let world = World::start().await;
    let (show, [first, _]) = presale(&world, "CODE").await;
    let made = codes(&world, &first, &json!({ "count": 2 })).await.expect(201);
    let code = made["codes"][0].as_str().unwrap().to_lowercase();
    let (mut fan, stranger) = (world.fan().await, world.fan().await);
    assert_eq!(my_phases(&fan, &show).await[0]["missing"], "CODE");
    let refused = fan.enter(&show).await.refused(403, "NOT_ELIGIBLE");
    assert_eq!((&refused["phaseId"], &refused["audience"]), (&json!(first), &json!("CODE")));
    verify(&fan, &first, &json!({ "code": "WRONG-CODE" })).await.refused(422, "PHASE_CODE_WRONG");
    verify(&fan, &first, &json!({ "code": code })).await.expect(200);
    verify(&fan, &first, &json!({ "code": code })).await.expect(200);
    verify(&stranger, &first, &json!({ "code": code })).await.refused(409, "PHASE_CODE_USED");
    // The confirmation names the phase, once.
    let told = notification(&world, "선예매 인증을 마쳤어요", 1).await;
    assert!(told.starts_with("포도 콘서트: ") && told.contains("에 열려요"), "{told}");
    let mine = my_phases(&fan, &show).await;
    assert_eq!((&mine[0]["eligible"], &mine[1]["eligible"]), (&json!(true), &json!(true)));
    assert_eq!(mine[0].get("missing"), None);
    assert_eq!(fan.enter(&show).await.expect(200)["state"], "LOBBY");
    world.clock.advance(MINUTE);
    fan.wait_inside(&show).await;
    fan.buy(&show, 0).await;
    fan.select(&show, &[1]).await.refused(401, "ENTRY_EXPIRED");
    stranger.enter(&show).await.refused(403, "NOT_ELIGIBLE");
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn each_phase_has_its_own_waiting_room_and_nothing_carries_over() {
    let world = World::start().await;
    let (show, [first, second]) = presale(&world, "EVERYBODY").await;
    let mut fan = world.fan().await;
    let place = fan.enter(&show).await.expect(200);
    world.clock.advance(MINUTE);
    fan.wait_inside(&show).await;
    fan.hold(&show, &[0]).await;
    // The lobby of the second phase gathers while the first one runs.
    let early = world.fan().await;
    let body = json!({ "scheduleId": show.schedule, "phaseId": second });
    let lobby = early.api.post("/api/queue/enter", &body).await.expect(200);
    assert_eq!(lobby["state"], "LOBBY");
    let draw = |id: String| format!("/api/queue/{id}/draw");
    let (one, other) = (draw(first), draw(second.clone()));
    let (one, other) = (world.stranger.get(&one).await, world.stranger.get(&other).await);
    assert_ne!(one.expect(200)["seedHash"], other.expect(200)["seedHash"], "a draw each");
    assert_eq!(other.expect(200).get("seed"), None, "secret until the phase opens");

    world.clock.advance(MINUTE * 10);
    fan.select(&show, &[1]).await.refused(403, "ENTRY_REQUIRED");
    let status = format!("/api/queue/status?scheduleId={}", show.schedule);
    let old = fan.api.call(Method::GET, &status).header("Queue-Token", text(&place, "token"));
    send(old).await.refused(404, "NOT_IN_QUEUE");
    let token = text(&lobby, "token");
    crate::support::world::until("the early fan is let in", async || {
        let poll = early.api.call(Method::GET, &status).header("Queue-Token", &token);
        (send(poll).await.expect(200)["state"] == "ADMITTED").then_some(())
    })
    .await;
    fan.go_inside(&show).await;
    fan.select(&show, &[1]).await.expect(201);
    let strange = json!({ "scheduleId": show.schedule, "phaseId": show.seat(9) });
    fan.api.post("/api/queue/enter", &strange).await.refused(404, "NOT_FOUND");
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_member_list_is_imported_with_its_wrong_lines_reported() {
    let world = World::start().await;
    let (show, [first, _]) = presale(&world, "MEMBERS").await;
    let mut csv = String::from("\u{feff}membershipNumber,email,name\r\n");
    csv.push_str("P-0001,kim@podo.example,김포도\r\n");
    csv.push_str("P-0002,not an address,박포도\r\n");
    csv.push_str(",,이포도\r\n");
    csv.push_str("P-0003,,\r\n");
    csv.push_str("\"P-0004\",\"lee@podo.example\",\"Lee, \"\"Podo\"\"\"\r\n");
    let view = upload(&world, &first, csv.into_bytes()).await.expect(200);
    assert_eq!((&view["lines"], &view["added"], &view["wrong"]), (&json!(5), &json!(2), &json!(3)));
    let problem = |line: u64, field: &str, problem: &str| json!({ "line": line, "field": field, "problem": problem });
    let expected = json!([
        problem(3, "email", "not_an_email"),
        problem(4, "membershipNumber", "blank"),
        problem(5, "name", "blank")
    ]);
    assert_eq!(view["problems"], expected);

    let (fan, other) = (world.fan().await, world.fan().await);
    let member = json!({ "membershipNumber": "p0001", "name": "김 포도" });
    let unnamed = json!({ "membershipNumber": "P-0001" });
    let problem = verify(&fan, &first, &unnamed).await.refused(422, "INVALID");
    assert_eq!(problem["errors"][0]["field"], "name");
    let wrong = json!({ "membershipNumber": "P-0001", "name": "박포도" });
    verify(&fan, &first, &wrong).await.refused(422, "MEMBER_UNKNOWN");
    let problem = verify(&fan, &first, &json!({ "code": "ABCD" })).await;
    assert_eq!(problem.refused(422, "WRONG_PHASE_PROOF")["errors"][0]["field"], "name");
    verify(&fan, &first, &member).await.expect(200);
    let same = json!({ "email": "KIM@podo.example", "name": "김포도" });
    verify(&other, &first, &same).await.refused(409, "MEMBER_TAKEN");
    let lee = json!({ "email": "lee@podo.example", "name": "Lee, \"Podo\"" });
    verify(&other, &first, &lee).await.expect(200);
    let path = format!("/api/admin/schedules/{}/phases", show.schedule);
    let shown = world.organiser.get(&path).await.expect(200)["items"][0].take();
    assert_eq!((&shown["members"], &shown["verified"]), (&json!(2), &json!(2)));
    assert_eq!(shown["imports"][0]["added"], 2);
    let bad = upload(&world, &first, b"a,b\n1,2\n".to_vec()).await;
    bad.refused(422, "INVALID_MEMBER_LIST");
    let unknown = show.schedule.phase(77).to_string();
    upload(&world, &unknown, b"name,email\n".to_vec()).await.refused(404, "NOT_FOUND");
    world.finish().await;
}

/// The names and addresses are nowhere in the store's files.
#[tokio::test(flavor = "multi_thread")]
async fn a_long_member_list_streams_in_and_is_stored_only_as_hashes() {
    let world = World::start().await;
    let (show, [first, _]) = presale(&world, "MEMBERS").await;
    let lines = (0..5_000).map(|nr| format!("fan{nr}@members.example,구독자{nr}\n"));
    let csv: String = std::iter::once("email,name\n".to_owned()).chain(lines).collect();
    let view = upload(&world, &first, csv.into_bytes()).await.expect(200);
    assert_eq!((&view["added"], &view["wrong"]), (&json!(5_000), &json!(0)));
    assert!(view["doneAt"].is_string(), "{view}");
    let fan = world.fan().await;
    let member = json!({ "email": "fan4999@members.example", "name": "구독자4999" });
    verify(&fan, &first, &member).await.expect(200);
    if let Some(folder) = &world._folder {
        for file in std::fs::read_dir(folder.path()).unwrap() {
            let bytes = std::fs::read(file.unwrap().path()).unwrap_or_default();
            let is_clear = bytes.windows(15).any(|part| part == b"members.example");
            assert!(!is_clear, "a member's address is stored in clear");
        }
    }
    assert_eq!(my_phases(&fan, &show).await[0]["eligible"], true);
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_phases_are_refused_by_field_and_change_nothing() {
    let world = World::start().await;
    let (show, opens_at) = show(&world).await;
    let at = |minutes: u32| opens_at.plus(MINUTE * minutes);
    let good = phase(at(0), at(10), "EVERYBODY");
    put_phases(&world, &show, std::slice::from_ref(&good)).await.expect(200);
    let with = |field: &str, value: Value| {
        let mut changed = good.clone();
        changed[field] = value;
        changed
    };
    let early = opens_at.minus(MINUTE);
    for (phases, code, field) in [
        (vec![good.clone(), phase(at(9), at(20), "CODE")], "PHASES_OVERLAP", "phases[1].startsAt"),
        (vec![phase(early, at(5), "CODE")], "PHASE_OUTSIDE_SALE", "phases[0].startsAt"),
        (vec![phase(at(5), at(5), "CODE")], "INVALID_PHASE", "phases[0].endsAt"),
        (vec![with("seatsPerPerson", json!(0))], "INVALID_PHASE", "phases[0].seatsPerPerson"),
        (vec![with("grades", json!([]))], "INVALID_PHASE", "phases[0].grades"),
        (vec![with("sections", json!(["1"]))], "INVALID_PHASE", "phases[0].sections"),
        (vec![with("id", json!(show.schedule.phase(9)))], "INVALID_PHASE", "phases[0].id"),
        (vec![with("audience", json!(""))], "INVALID", "phases[0].audience"),
        (vec![with("name", json!(" "))], "INVALID", "phases[0].name"),
    ] {
        let problem = put_phases(&world, &show, &phases).await.refused(422, code);
        assert_eq!(problem["errors"][0]["field"], field, "{problem}");
    }
    let path = format!("/api/admin/schedules/{}/phases", show.schedule);
    let shown = world.organiser.get(&path).await.expect(200)["items"].take();
    assert_eq!(shown.as_array().unwrap().len(), 1);
    let id = text(&shown[0], "id");
    for (body, field) in [
        (json!({ "count": 0 }), "count"),
        (json!({ "count": 1, "usesMax": 0 }), "usesMax"),
        (json!({ "codes": ["ABC"] }), "codes"),
        (json!({}), "codes"),
    ] {
        let problem = codes(&world, &id, &body).await.refused(422, "INVALID");
        assert_eq!(problem["errors"][0]["field"], field, "{problem}");
    }
    world.clock.advance(MINUTE * 2);
    let mut begun = good.clone();
    begun["id"] = json!(id);
    begun["audience"] = json!("CODE");
    put_phases(&world, &show, &[begun]).await.refused(409, "PHASE_BEGUN");
    put_phases(&world, &show, &[]).await.refused(409, "PHASE_BEGUN");
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_best_seats_of_a_phase_are_among_those_that_it_sells() {
    let world = World::start().await;
    let template = json!({ "layoutType": "grid", "rows": ["A", "B"], "seatsPerRow": 10,
        "gradeMapping": { "A": "VIP", "B": "R" } });
    let prices = json!({ "VIP": 50_000, "R": 50_000 });
    let plan = Plan { opens_in: MINUTE, ..Plan::default() };
    let show = world.show_in(template, prices, plan).await;
    let view = world.stranger.get(&format!("/api/schedules/{}", show.schedule)).await.expect(200);
    let opens_at: Timestamp = serde_json::from_value(view["saleStartsAt"].clone()).unwrap();
    let mut only_r = phase(opens_at, opens_at.plus(MINUTE * 10), "EVERYBODY");
    only_r["grades"] = json!(["R"]);
    put_phases(&world, &show, &[only_r]).await.expect(200);
    world.clock.advance(MINUTE);
    let fan = world.fan_inside(&show).await;
    let refused = fan.select(&show, &[0]).await.refused(409, "SEAT_NOT_IN_PHASE");
    assert_eq!(refused["seatIds"], json!([show.seat(0)]));
    let held = fan.best(&show, json!({ "count": 2 })).await.expect(201);
    assert_eq!(held["seats"][0]["grade"], "R");
    fan.select(&show, &[19]).await.refused(409, "SEAT_LIMIT");
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_verified_identity_needs_no_further_proof() {
    let world = World::start().await;
    let (show, [first, _]) = presale(&world, "VERIFIED_IDENTITY").await;
    let (mut fan, stranger) = (world.fan().await, world.fan().await);
    let proven = ProveIdentity {
        user: fan.id,
        ci: Some(b"encrypted".to_vec()),
        ci_hash: Some([7; 32]),
        di: None,
        di_hash: None,
        now: world.context().now(),
    };
    world.context().store.prove_identity(proven).await.unwrap();
    assert_eq!(my_phases(&stranger, &show).await[0]["missing"], "IDENTITY");
    assert_eq!(my_phases(&fan, &show).await[0]["eligible"], true);
    verify(&stranger, &first, &json!({})).await.refused(403, "IDENTITY_REQUIRED");
    stranger.enter(&show).await.refused(403, "NOT_ELIGIBLE");
    world.clock.advance(MINUTE);
    fan.go_inside(&show).await;
    fan.hold(&show, &[0]).await;
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fan_without_scripts_sees_the_phases_and_verifies() {
    let world = World::start().await;
    let (show, [first, _]) = presale(&world, "CODE").await;
    let made = codes(&world, &first, &json!({ "codes": ["grapes 2026"] })).await.expect(201);
    assert_eq!((&made["added"], &made["codes"]), (&json!(1), &json!([])));
    let event = world.stranger.get(&format!("/events/{}", show.event)).await;
    let address = format!("/queue/{first}/verify");
    assert!(event.text.contains("선예매") && event.text.contains(&address), "{}", event.text);
    let asked = world.stranger.get(&address).await;
    assert!(asked.text.contains("/enter?next=/queue/"), "{}", asked.text);
    let fan = world.fan().await;
    let cookie = format!("__Host-podo_access={}", fan.api.token());
    let submit = async |code: &str| {
        let call = world.stranger.call(Method::POST, &address).header("Cookie", &cookie);
        send(call.form(&[("code", code)])).await.text
    };
    let wrong = submit("WRONG").await;
    assert!(wrong.contains("role=\"alert\"") && wrong.contains("name=\"code\""), "{wrong}");
    let verified = submit("GRAPES-2026").await;
    assert!(verified.contains("인증 완료"), "{verified}");
    assert_eq!(my_phases(&fan, &show).await[0]["eligible"], true);
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_of_six_needs_the_organisers_permission() {
    let world = World::start().await;
    let (show, opens_at) = show(&world).await;
    let path = format!("/api/admin/schedules/{}", show.schedule);
    let patch =
        async |body: Value| send(world.organiser.call(Method::PATCH, &path).json(&body)).await;
    let problem = patch(json!({ "seatsPerOrder": 11 })).await.refused(422, "INVALID_SCHEDULE");
    assert_eq!(problem["errors"][0]["field"], "seatsPerOrder");
    let changed = patch(json!({ "seatsPerOrder": 6, "seatsPerPerson": 20 })).await.expect(200);
    assert_eq!(changed["seatsPerOrder"], 6);
    let mut wide = phase(opens_at, opens_at.plus(MINUTE * 10), "EVERYBODY");
    wide["seatsPerPerson"] = json!(20);
    let mut wrong = wide.clone();
    wrong["seatsPerOrder"] = json!(0);
    let problem = put_phases(&world, &show, &[wrong]).await.refused(422, "INVALID_PHASE");
    assert_eq!(problem["errors"][0]["field"], "phases[0].seatsPerOrder");
    world.clock.advance(MINUTE);
    let fan = world.fan_inside(&show).await;
    let refused = fan.select(&show, &[0, 1, 2, 3, 4, 5, 6]).await.refused(422, "TOO_MANY_SEATS");
    assert_eq!(refused["max"], 6);
    let refused = fan.best(&show, json!({ "count": 7 })).await.refused(422, "TOO_MANY_SEATS");
    assert_eq!(refused["max"], 6);
    fan.select(&show, &[0, 1, 2, 3, 4, 5]).await.expect(201);
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn guesses_of_a_code_are_limited() {
    let world = World::with(&[("PODO_LIMITS", "on")]).await;
    let (_, [first, _]) = presale(&world, "CODE").await;
    let fan = world.fan().await;
    for _ in 0..10 {
        verify(&fan, &first, &json!({ "code": "ABCDEF" })).await.refused(422, "PHASE_CODE_WRONG");
    }
    verify(&fan, &first, &json!({ "code": "ABCDEF" })).await.refused(429, "TOO_MANY_REQUESTS");
}

/// At an opening there is no time to read one, and no room in the outbox for one of each fan.
#[tokio::test(flavor = "multi_thread")]
async fn only_a_fan_who_verifies_before_the_opening_is_notified() {
    let world = World::start().await;
    let (_, [first, _]) = presale(&world, "CODE").await;
    let made = codes(&world, &first, &json!({ "count": 2 })).await.expect(201);
    let code = |index: usize| json!({ "code": made["codes"][index] });
    let (early, late) = (world.fan().await, world.fan().await);
    world.clock.advance(MINUTE);
    verify(&late, &first, &code(1)).await.expect(200);
    world.clock.fall_back(MINUTE);
    verify(&early, &first, &code(0)).await.expect(200);
    notification(&world, "선예매 인증을 마쳤어요", 1).await;
    let of_late = late.api.get("/api/users/me/mailbox").await.expect(200);
    let subjects = of_late["items"].as_array().unwrap().iter().map(|it| text(it, "subject"));
    let told: Vec<String> = subjects.filter(|subject| subject.contains("인증")).collect();
    assert!(told.is_empty(), "{told:?}");
}
