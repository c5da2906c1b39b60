//! Differential tests of the fast path. For any bytes, it and hyper must parse the same requests,
//! and return the same responses with the same headers.
//!
//! A connection that starts with another request stays with hyper, so each test sends the same
//! bytes twice: at the start of a connection, and after a request for `/livez`.

#[path = "fast_path/differential.rs"]
pub(crate) mod differential;
#[path = "fast_path/streams.rs"]
pub(crate) mod streams;

use crate::http::fuzz::{Monkey, length};
use crate::support::client::text;
use crate::support::world::{Plan, World};
use differential::{HEADERS, ORDINARY, assert_same, both_ways, exchange, seen};
use serde_json::{Value, json};
use std::time::Instant;

/// A date with one seat, which is taken; a waiting fan and an admitted one.
struct Crowd {
    poll: String,
    enter: String,
    select: String,
}

fn post(path: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nHost: podo\r\nContent-Type: application/json\r\n{headers}\
         Content-Length: {length}\r\n\r\n{body}"
    )
}

async fn crowd(world: &World) -> Crowd {
    let show = world.show(Plan { n_seats: 1, max_active: 2, ..Plan::default() }).await;
    world.fan_inside(&show).await.hold(&show, &[0]).await;
    let inside = world.fan_inside(&show).await;
    let waiting = world.fan().await;
    let place = text(&waiting.enter(&show).await.expect(200), "token");
    let (waits, token, entry) = (waiting.api.token(), inside.api.token(), inside.api.entry());
    let id = show.schedule;
    let pick = json!({ "scheduleId": id, "seatIds": [show.seat(0)] }).to_string();
    Crowd {
        poll: format!(
            "GET /api/queue/status?scheduleId={id} HTTP/1.1\r\nHost: podo\r\n\
             Queue-Token: {place}\r\n\r\n"
        ),
        enter: post(
            "/api/queue/enter",
            &format!("Authorization: Bearer {waits}\r\n"),
            &json!({ "scheduleId": id }).to_string(),
        ),
        select: post(
            "/api/booking/seats/select",
            &format!(
                "Authorization: Bearer {token}\r\nEntry-Token: {entry}\r\nIdempotency-Key: k\r\n"
            ),
            &pick,
        ),
    }
}

/// Request smuggling, and ambiguous requests.
fn smuggled(crowd: &Crowd) -> Vec<String> {
    let Crowd { poll, enter, select } = crowd;
    let mut cases = Vec::new();
    for request in [poll, enter, select] {
        cases.push(request.clone());
        cases.push(format!("{request}{poll}"));
        cases.push(format!("\r\n\r\n{request}"));
        cases.push(format!("0\r\n\r\n{request}"));
        cases.push(request.replace("\r\n", "\n"));
        cases.push(request.replace("Host: podo\r\n", ""));
        cases.push(request.replace("HTTP/1.1", "HTTP/1.0"));
        cases.push(request.replace("HTTP/1.1", "HTTP/1.2"));
        cases.push(request.replace("HTTP/1.1", "HTTP/2.0"));
        cases.push(request.replace("/api/", "http://podo/api/"));
        cases.push(request.replace("/api/", "http://other/api/"));
        cases.push(request.replace("/api/", "//api/"));
        cases.push(request.replace("/api/", "/%61pi/"));
        cases.push(request.replacen(' ', "  ", 1));
        cases.push(request.to_ascii_lowercase());
        cases.push(request.replacen("\r\n", &format!("\r\nX: {}\r\n", "y".repeat(5_000)), 1));
        cases.push(request.replacen("\r\n", &format!("\r\nX: {}\r\n", "y".repeat(50_000)), 1));
        cases.push(request.replacen("\r\n", &format!("\r\n{}", "X: y\r\n".repeat(40)), 1));
        cases.push(request.replacen("\r\n", &format!("\r\n{}", "X: y\r\n".repeat(120)), 1));
        for header in HEADERS {
            let changed = request.replacen("\r\n", &format!("\r\n{header}"), 1);
            cases.push(format!("{changed}{poll}"));
            // The body of one request as the head of the next.
            cases.push(format!("{changed}0\r\n\r\n{poll}"));
            cases.push(format!("{changed}5\r\nhello\r\n0\r\n\r\n{poll}"));
        }
    }
    cases
}

#[tokio::test(flavor = "multi_thread")]
async fn what_may_be_read_in_two_ways_is_read_in_one() {
    let world = World::start().await;
    let crowd = crowd(&world).await;
    let address = world.running.address;
    let cases = smuggled(&crowd);
    let check = move || cases.iter().for_each(|case| assert_same(address, case.as_bytes()));
    tokio::task::spawn_blocking(check).await.unwrap();
}

/// The same for random bytes.
#[tokio::test(flavor = "multi_thread")]
async fn hostile_bytes_are_read_in_one_way() {
    let world = World::start().await;
    let crowd = crowd(&world).await;
    let address = world.running.address;
    let two = format!("{}{}", crowd.poll, crowd.enter);
    let spices = ["Transfer-Encoding: chunked\r\n\r\n", "Content-Length: 3\r\n", "Host: x\r\n"];
    let corpus = [&crowd.poll, &crowd.enter, &crowd.select, &two].map(|text| text.as_bytes());
    let corpus = [&corpus[..], &spices.map(str::as_bytes)].concat();
    let mut monkey = Monkey::new(&corpus);
    let fuzz = move || {
        let end = Instant::now() + length();
        let mut n_inputs = 0;
        while Instant::now() < end {
            assert_same(address, &monkey.input());
            n_inputs += 1;
        }
        assert!(n_inputs > 20, "only {n_inputs} inputs");
    };
    tokio::task::spawn_blocking(fuzz).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn both_ways_send_the_same_headers() {
    let settings = [("PODO_LIMITS", "on"), ("PODO_PUBLIC_URL", "https://podo.example")];
    let world = World::with(&settings).await;
    let Crowd { poll, enter, select } = crowd(&world).await;
    let address = world.running.address;
    let wrong = poll.replace("Queue-Token: ", "Queue-Token: x");
    for request in [poll, enter, select, wrong] {
        let (first, ordinary) = both_ways(address, request.as_bytes());
        assert_eq!(seen(&first[0]), seen(&ordinary[0]), "{request}");
        for name in [
            "strict-transport-security",
            "content-security-policy",
            "referrer-policy",
            "x-frame-options",
            "ratelimit",
            "ratelimit-policy",
        ] {
            assert!(first[0].headers.contains_key(name), "{name}: {first:?}");
        }
    }
}

/// Each request takes one token of its address, on either path and with any outcome.
#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_fails_is_counted_once() {
    let limits = [
        ("PODO_LIMITS", "on"),
        ("PODO_REQUESTS_PER_SECOND_PER_IP", "1000"),
        ("PODO_REQUESTS_PER_MINUTE_PER_USER", "10"),
    ];
    let world = World::with(&limits).await;
    let Crowd { poll, enter, .. } = crowd(&world).await;
    let address = world.running.address;
    world.clock.stop_at(world.context().now());
    let left = |request: &str| {
        let answers = exchange(address, request.as_bytes());
        let left = answers[0].headers["ratelimit"].split("r=").nth(1).unwrap();
        left.split(';').next().unwrap().parse::<i64>().unwrap()
    };
    let unknown_id = "0190a000-0000-7000-8000-000000000000";
    let wrong_token = poll.replace("Queue-Token: ", "Queue-Token: x");
    let at = enter.find("{\"scheduleId\":\"").unwrap() + "{\"scheduleId\":\"".len();
    let mut wrong_date = enter.clone();
    wrong_date.replace_range(at..at + unknown_id.len(), unknown_id);
    let livez = "GET /api/queue/x/progress HTTP/1.1\r\nHost: podo\r\n\r\n";
    for request in [poll.as_str(), &wrong_token, &wrong_date, livez] {
        let before = left(livez);
        left(request);
        assert_eq!(left(livez), before - 2, "{request}");
    }
    // The user's own limit: ten per minute, with any outcome.
    for before in [&b""[..], ORDINARY] {
        let fan = world.fan().await;
        let body = json!({ "scheduleId": unknown_id }).to_string();
        let authorization = format!("Authorization: Bearer {}\r\n", fan.api.token());
        let request = post("/api/queue/enter", &authorization, &body);
        let bytes = [before, request.as_bytes()].concat();
        let statuses = (0..20).map(|_| exchange(address, &bytes).last().unwrap().status);
        let n_found_nothing = statuses.filter(|status| *status == 404).count();
        assert_eq!(n_found_nothing, 10);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_names_one_host() {
    let world = World::start().await;
    let Crowd { poll, .. } = crowd(&world).await;
    let address = world.running.address;
    let code = |request: &str| {
        let answers = exchange(address, request.as_bytes());
        let body: Value = serde_json::from_slice(&answers[0].body).unwrap_or_default();
        (answers[0].status, body["code"].as_str().unwrap_or_default().to_owned())
    };
    let refused = (400, "HOST_INVALID".to_owned());
    let events = "GET /api/events HTTP/1.1\r\nHost: podo\r\n\r\n";
    for request in [events, &poll] {
        assert_eq!(code(request).0, 200, "{request}");
        for host in
            ["", "Host: podo\r\nHost: podo\r\n", "Host: podo\r\nhost: other\r\n", "Host:\r\n"]
        {
            assert_eq!(code(&request.replace("Host: podo\r\n", host)), refused, "{host}");
        }
    }
    // HTTP/1.0 has no Host header.
    assert_eq!(code("GET /api/events HTTP/1.0\r\n\r\n").0, 200);
}
