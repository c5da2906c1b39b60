//! Any invalid input gets a problem that names the field, never a server error, and changes
//! nothing.

use crate::support::client::{Answer, Api, new_key, send, text};
use crate::support::world::{Plan, World};
use reqwest::Method;
use serde_json::{Value, json};

/// A route that takes a body, with a valid one.
struct Endpoint {
    api: Api,
    method: Method,
    path: String,
    body: Value,
    /// Optional members.
    optional: &'static [&'static str],
}

impl Endpoint {
    async fn send(&self, body: impl Into<reqwest::Body>) -> Answer {
        let call = self.api.call(self.method.clone(), &self.path);
        let call = call.header("Idempotency-Key", new_key());
        send(call.header("Content-Type", "application/json").body(body)).await
    }

    /// The valid body with one member replaced.
    fn with(&self, member: &str, value: Value) -> String {
        let mut body = self.body.clone();
        body[member] = value;
        body.to_string()
    }

    fn members(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.body.as_object().unwrap().iter()
    }

    /// Expects that the body is refused because of this member.
    async fn check(&self, body: String, member: &str) {
        let answer = self.send(body.clone()).await;
        let problem = answer.refused(422, "INVALID");
        let field = text(&problem["errors"][0], "field");
        let what = format!("{} {body}: {}", self.path, answer.text);
        assert!(field.starts_with(member), "{what}");
        assert!(!text(&problem["errors"][0], "detail").is_empty(), "{what}");
    }
}

/// Every route that takes a body, with real objects behind it.
async fn endpoints(world: &World) -> Vec<Endpoint> {
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    let (schedule, seat) = (show.schedule, show.seat(0));
    let id = fan.hold(&show, &[1]).await;
    let endpoint = |api: &Api, path: &str, body: Value, optional| {
        let (api, method, path) = (api.clone(), Method::POST, path.to_owned());
        Endpoint { api, method, path, body, optional }
    };
    let fan_door = |path: &str, body: Value, optional| endpoint(&fan.api, path, body, optional);
    let cancel = format!("/api/booking/reservations/{id}/cancel");
    let sandbox = format!("/api/payment/sandbox/{}", "0".repeat(32));
    let person = json!({ "email": "a@b.kr", "password": "green grapes", "name": "a",
        "phone": "010-1234-5678" });
    let login = json!({ "email": "a@b.kr", "password": "green grapes" });
    let mut endpoints = vec![
        endpoint(&world.stranger, "/api/auth/signup", person, &["phone"]),
        endpoint(&world.stranger, "/api/auth/login", login, &[]),
        fan_door("/api/queue/enter", json!({ "scheduleId": schedule }), &[]),
        fan_door("/api/queue/extend", json!({ "scheduleId": schedule }), &[]),
        fan_door(
            "/api/booking/seats/select",
            json!({ "scheduleId": schedule, "seatIds": [seat] }),
            &[],
        ),
        fan_door(
            "/api/payment/request",
            json!({ "reservationId": id, "method": "CARD", "gateway": "sandbox" }),
            &["gateway"],
        ),
        fan_door(
            "/api/payment/confirm",
            json!({ "paymentId": id, "amount": 1, "paymentKey": "k" }),
            &["paymentKey"],
        ),
        fan_door("/api/payment/wallet", json!({ "reservationId": id, "amount": 1 }), &[]),
        fan_door("/api/payment/cancel", json!({ "paymentId": id, "reason": "r" }), &[]),
        fan_door(&cancel, json!({ "reason": "r" }), &["reason"]),
        fan_door(&sandbox, json!({ "choice": "APPROVE" }), &[]),
        fan_door("/api/wallet/charge", json!({ "amount": 1_000 }), &[]),
    ];
    endpoints.extend(admin_endpoints(world, &show.event, &schedule.to_string()));
    endpoints
}

fn admin_endpoints(world: &World, event: &str, schedule: &str) -> Vec<Endpoint> {
    let endpoint = |path: String, body: Value, optional| {
        let (api, method) = (world.organiser.clone(), Method::POST);
        Endpoint { api, method, path, body, optional }
    };
    let template = json!({ "layoutType": "grid", "rows": ["A"], "seatsPerRow": 1,
        "gradeMapping": { "A": "S" } });
    let settings = Plan::default().queue("AUTO");
    let time = "2030-01-01T00:00:00Z";
    let times = json!({ "startsAt": time, "endsAt": time, "saleStartsAt": time,
        "saleEndsAt": time, "prices": { "S": 1 }, "seatsPerPerson": 4, "queue": settings });
    vec![
        endpoint(
            "/api/admin/venues".into(),
            json!({ "name": "n", "address": "a", "city": "c" }),
            &[],
        ),
        endpoint(
            format!("/api/admin/venues/{event}/halls"),
            json!({ "name": "n", "seatTemplate": template }),
            &[],
        ),
        endpoint(
            "/api/admin/events".into(),
            json!({ "title": "t", "artist": "a", "description": "d",
                "venueId": event, "hallId": event }),
            &["description"],
        ),
        endpoint(
            format!("/api/admin/events/{event}/schedules"),
            times,
            &["seatsPerPerson", "queue"],
        ),
        Endpoint {
            method: Method::PUT,
            ..endpoint(format!("/api/admin/schedules/{schedule}/queue"), settings, &[])
        },
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_member_that_is_unknown_missing_or_of_another_type_is_named() {
    let world = World::start().await;
    for endpoint in endpoints(&world).await {
        endpoint.check(endpoint.with("surprise", json!(1)), "surprise").await;
        for (member, _) in endpoint.members() {
            endpoint.check(endpoint.with(member, json!({ "odd": true })), member).await;
            endpoint.check(endpoint.with(member, json!(1.5)), member).await;
            let mut without = endpoint.body.clone();
            without.as_object_mut().unwrap().remove(member);
            if !endpoint.optional.contains(&member.as_str()) {
                endpoint.check(without.to_string(), member).await;
            }
        }
        if endpoint.path.ends_with("/schedules") {
            endpoint
                .check(endpoint.with("queue", json!({ "mode": "AUTO" })), "queue.maxActive")
                .await;
        }
    }
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_text_that_is_too_long_or_no_id_is_named() {
    let world = World::start().await;
    let long = "포".repeat(6_000);
    for endpoint in endpoints(&world).await {
        for (member, value) in endpoint.members().filter(|(_, value)| value.is_string()) {
            endpoint.check(endpoint.with(member, json!(long)), member).await;
            let is_id = value.as_str().unwrap().parse::<podo_domain::UserId>().is_ok();
            if is_id {
                for odd in ["", "not-an-id", "00000000-0000-0000-0000-00000000000g", "' or 1=1"] {
                    endpoint.check(endpoint.with(member, json!(odd)), member).await;
                }
            }
        }
    }
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_json_object_is_refused() {
    let world = World::start().await;
    for endpoint in endpoints(&world).await {
        let cut = endpoint.body.to_string();
        let two = format!("{cut}{cut}");
        for odd in ["", "{", "nope", &two, "\u{feff}{}", &cut[..cut.len() - 1]] {
            endpoint.send(odd.to_owned()).await.refused(400, "MALFORMED_BODY");
        }
        for odd in [vec![0xff_u8, 0xfe], b"{\"a\":\"\xc3\"}".to_vec()] {
            let answer = endpoint.send(odd).await;
            assert!([400, 422].contains(&answer.status), "{}", answer.text);
        }
        for odd in ["[]", "[1000]", "null", "1", "\"text\"", "[[[[[[[[[[1]]]]]]]]]]"] {
            let answer = endpoint.send(odd.to_owned()).await;
            assert_eq!(answer.status, 422, "{} {odd}: {}", endpoint.path, answer.text);
        }
        let deep = format!("{{\"deep\":{}", "[".repeat(10_000));
        let answer = endpoint.send(deep).await;
        assert!([400, 422].contains(&answer.status), "{}", answer.text);
        let (member, value) = endpoint.members().next().unwrap();
        let twice = format!("{{\"{member}\":{value},\"{member}\":{value}}}");
        let answer = endpoint.send(twice).await;
        assert_eq!(answer.status, 422, "{}: {}", endpoint.path, answer.text);
    }
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_of_another_kind_or_beyond_64_kib_is_refused() {
    let world = World::start().await;
    for endpoint in endpoints(&world).await {
        let call = || endpoint.api.call(endpoint.method.clone(), &endpoint.path);
        let body = endpoint.body.to_string();
        for kind in ["text/plain", "application/x-www-form-urlencoded", "application/jsonx", ""] {
            let answer = send(call().header("Content-Type", kind).body(body.clone())).await;
            answer.refused(415, "NOT_JSON");
        }
        send(call().body(body.clone())).await.refused(415, "NOT_JSON");
        // A hall may be a stadium.
        let n_bytes_max = if endpoint.path.ends_with("/halls") { 16 << 20 } else { 64 << 10 };
        let big = format!("{body}{}", " ".repeat(n_bytes_max));
        endpoint.send(big).await.refused(413, "BODY_TOO_LARGE");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_amount_is_a_whole_number_of_won_within_limits() {
    let world = World::start().await;
    let fan = world.fan().await;
    let charge = Endpoint {
        api: fan.api.clone(),
        method: Method::POST,
        path: "/api/wallet/charge".into(),
        body: json!({ "amount": 1 }),
        optional: &[],
    };
    let odd = [
        "-1",
        "-0.0",
        "1.0",
        "1.5",
        "1e3",
        "\"1000\"",
        "null",
        "true",
        "[]",
        "1e308",
        "-1e308",
        "9223372036854775807",
        "9223372036854775808",
        "99999999999999999999999999",
        "100000000001",
    ];
    for amount in odd {
        charge.check(format!("{{\"amount\":{amount}}}"), "amount").await;
    }
    for amount in [0, 2_000_001] {
        let answer = charge.send(format!("{{\"amount\":{amount}}}")).await;
        answer.refused(422, "WALLET_LIMIT");
    }
    assert_eq!(fan.balance().await, 0);
    for _ in 0..5 {
        charge.send(r#"{"amount":2000000}"#).await.expect(201);
    }
    charge.send(r#"{"amount":1}"#).await.refused(422, "WALLET_LIMIT");
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_that_leads_nowhere_is_not_found() {
    let world = World::start().await;
    let fan = world.fan().await;
    let id = "018f3c1e-0000-7000-8000-000000000000";
    for odd in ["x", "1", "%00", "%F0%28", "..%2f..%2fetc", "' or 1=1", id] {
        for path in ["booking/reservations", "payment", "tickets", "events", "schedules"] {
            let answer = fan.api.get(&format!("/api/{path}/{odd}")).await;
            assert_eq!(answer.status, 404, "{path}/{odd}: {}", answer.text);
            answer.refused(404, "NOT_FOUND");
        }
    }
    for path in ["/api", "/api/nothing", "/nothing", "/api/events/x/y/z", "/api/wallet/"] {
        fan.api.get(path).await.refused(404, "NOT_FOUND");
    }
    let other = fan.api.delete("/api/wallet").await;
    other.refused(405, "METHOD_NOT_ALLOWED");
    assert_eq!(other.header("allow"), "GET,HEAD");
    fan.api.get("/api/auth/login").await.refused(405, "METHOD_NOT_ALLOWED");
    fan.api.put("/api/events", &json!({})).await.refused(405, "METHOD_NOT_ALLOWED");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_query_that_makes_no_sense_is_refused() {
    let world = World::start().await;
    let fan = world.fan().await;
    let odd = [
        "/api/events?limit=0",
        "/api/events?limit=101",
        "/api/events?limit=-1",
        "/api/events?limit=many",
        "/api/events?cursor=x",
        "/api/events?status=SECRET",
        "/api/events?from=yesterday",
        "/api/events?surprise=1",
        "/api/events?query=",
        "/api/wallet/ledger?cursor=x",
        "/api/wallet/ledger?limit=0",
        "/api/tickets?limit=1000",
        "/api/queue/status",
        "/api/queue/status?scheduleId=x",
        "/api/booking/seats?scheduleId=",
        "/api/booking/seats",
    ];
    for path in odd {
        let answer = fan.api.get(path).await;
        assert_eq!(answer.status, 422, "{path}: {}", answer.text);
        answer.refused(422, "INVALID");
    }
    let answer = fan.api.delete("/api/booking/seats/release?reservationId=x").await;
    answer.refused(422, "INVALID");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_problem_speaks_korean_unless_english_is_preferred() {
    let world = World::start().await;
    let ask = async |accepted: Option<&str>| {
        let mut call = world.stranger.call(Method::POST, "/api/auth/login").json(&json!({}));
        if let Some(accepted) = accepted {
            call = call.header("Accept-Language", accepted);
        }
        send(call).await
    };
    let is_korean = |text: &str| text.chars().any(|it| ('가'..='힣').contains(&it));
    for (accepted, language) in
        [(None, "ko"), (Some("ko-KR,en;q=0.5"), "ko"), (Some("en"), "en"), (Some("fr"), "en")]
    {
        let answer = ask(accepted).await;
        let problem = answer.refused(422, "INVALID");
        assert_eq!(answer.header("content-language"), language, "{accepted:?}");
        for said in [text(&problem, "detail"), text(&problem["errors"][0], "detail")] {
            assert_eq!(is_korean(&said), language == "ko", "{said}");
        }
        assert_eq!(text(&problem, "traceId").len(), 32);
    }
}
