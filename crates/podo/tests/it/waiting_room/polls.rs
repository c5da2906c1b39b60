//! The fast path is invisible to clients: responses are the same as on the ordinary path.

use crate::support::client::text;
use crate::support::fan::Fan;
use crate::support::world::{Plan, World};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

/// Has no effect, but makes a request take the ordinary path.
const ORDINARY: &str = "Connection: Keep-Alive\r\n";

/// What a browser sends from our own page.
const PAGE: &str = "Sec-Fetch-Site: same-origin\r\n";

/// What a browser sends from another site's page.
const FOREIGN: &str = "Origin: https://evil.example\r\n";

/// Reads one response: its status, its head, its body.
fn read_answer(reader: &mut impl BufRead) -> (u16, String, Vec<u8>) {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert_ne!(reader.read_line(&mut head).unwrap(), 0, "an answer ends early: {head}");
    }
    let value = |name: &str| {
        let line = head.lines().find(|line| line.to_ascii_lowercase().starts_with(name));
        line.and_then(|line| line.split_once(": ")).map(|(_, value)| value.to_owned())
    };
    let length = value("content-length").unwrap().parse().unwrap();
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, head, body)
}

#[tokio::test(flavor = "multi_thread")]
async fn polls_and_other_requests_share_a_connection() {
    let world = World::start().await;
    let show = world.show(Plan { max_active: 1, ..Plan::default() }).await;
    let _inside = world.fan_inside(&show).await;
    let fan = world.fan().await;
    let token = text(&fan.enter(&show).await.expect(200), "token");
    let path = format!("/api/queue/status?scheduleId={}", show.schedule);
    let get = |path: &str, token: &str| {
        format!("GET {path} HTTP/1.1\r\nHost: podo\r\nQueue-Token: {token}\r\n\r\n")
    };
    let mut stream = TcpStream::connect(world.running.address).unwrap();
    let asked = [
        get(&path, &token),
        get(&path, &token),
        get(&path, "nonsense"),
        get("/livez", ""),
        get(&path, &token),
    ];
    stream.write_all(asked.concat().as_bytes()).unwrap();
    let mut reader = BufReader::new(stream);
    let answers = asked.map(|_| read_answer(&mut reader));
    assert_eq!(answers.each_ref().map(|answer| answer.0), [200, 200, 401, 200, 200]);
    let views = [0, 1, 4].map(|at| serde_json::from_slice::<Value>(&answers[at].2).unwrap());
    let ordinary = fan.api.get(&path).await.expect(200);
    for view in views {
        for field in ["state", "position", "ahead", "behind", "canEnter", "estimatedWait"] {
            assert_eq!(view[field], ordinary[field], "{field}");
        }
    }
    for (_, head, _) in &answers {
        for name in ["cache-control: no-store", "x-content-type-options: nosniff", "date: "] {
            assert!(head.to_ascii_lowercase().contains(name), "{name} in {head}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn entering_is_the_same_on_both_ways() {
    let world = World::start().await;
    let show = world.show(Plan { max_active: 1, ..Plan::default() }).await;
    let _inside = world.fan_inside(&show).await;
    let (first, second) = (world.fan().await, world.fan().await);
    let body = format!("{{\"scheduleId\":\"{}\"}}", show.schedule);
    let post = |token: &str, more: &str, body: &str| {
        let length = body.len();
        format!(
            "POST /api/queue/enter HTTP/1.1\r\nHost: podo\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n{more}\r\n{body}"
        )
    };
    let ask = |asked: &[String]| {
        let mut stream = TcpStream::connect(world.running.address).unwrap();
        stream.write_all(asked.concat().as_bytes()).unwrap();
        let mut reader = BufReader::new(stream);
        let answers = asked.iter().map(|_| read_answer(&mut reader));
        let answers = answers
            .map(|(status, _, body)| (status, serde_json::from_slice::<Value>(&body).unwrap()));
        answers.collect::<Vec<_>>()
    };
    let [first, second] = [first.api.token(), second.api.token()];
    let answers = ask(&[
        post(first, "", &body),
        post(second, "", &body),
        post(first, "", &body),
        post(first, PAGE, &body),
        post(second, ORDINARY, &body),
    ]);
    for (status, view) in &answers {
        assert_eq!((*status, &view["state"]), (200, &Value::from("WAITING")), "{view}");
    }
    for (at, other) in [(0, 2), (0, 3), (1, 4)] {
        for field in ["state", "position", "ahead", "canEnter"] {
            assert_eq!(answers[at].1[field], answers[other].1[field], "{field}");
        }
        assert!(answers[at].1["token"].is_string());
    }
    assert_eq!(answers[1].1["ahead"], 1);

    let code = |asked: String| {
        let (status, problem) = ask(&[asked]).remove(0);
        (status, problem["code"].as_str().unwrap_or_default().to_owned())
    };
    assert_eq!(code(post("nonsense", "", &body)), (401, "LOGIN_REQUIRED".to_owned()));
    assert_eq!(code(post(first, FOREIGN, &body)), (403, "ORIGIN_FORBIDDEN".to_owned()));
    assert_eq!(code(post(first, "", "{}")), (422, "INVALID".to_owned()));
}

/// A fan selects a seat with this idempotency key.
fn select(
    fan: &Fan,
    show: &crate::support::world::Show,
    (key, seat): (&str, u32),
    more: &str,
) -> String {
    let body = json!({ "scheduleId": show.schedule, "seatIds": [show.seat(seat)] }).to_string();
    let (token, entry, length) = (fan.api.token(), fan.api.entry(), body.len());
    format!(
        "POST /api/booking/seats/select HTTP/1.1\r\nHost: podo\r\nAuthorization: Bearer {token}\r\n\
         Entry-Token: {entry}\r\nIdempotency-Key: {key}\r\nAccept-Language: en\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\n{more}\r\n{body}"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn choosing_seats_is_the_same_on_both_ways() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let (first, second) = (world.fan_inside(&show).await, world.fan_inside(&show).await);
    let asked = [
        select(&first, &show, ("a", 0), ""),
        select(&first, &show, ("a", 0), ""),
        select(&second, &show, ("b", 0), ""),
        select(&second, &show, ("c", 1), PAGE),
        select(&first, &show, ("a", 1), ""),
        select(&first, &show, ("a", 0), ORDINARY),
        select(&second, &show, ("b", 0), ""),
        select(&first, &show, ("a", 1), ""),
        select(&second, &show, ("d", 2), FOREIGN),
    ];
    let mut stream = TcpStream::connect(world.running.address).unwrap();
    stream.write_all(asked.concat().as_bytes()).unwrap();
    let mut reader = BufReader::new(stream);
    let answers = asked.map(|_| read_answer(&mut reader));
    let statuses = answers.each_ref().map(|answer| answer.0);
    // A seat that another fan has by now is taken, whatever the key was used for before.
    assert_eq!(statuses, [201, 201, 409, 201, 409, 201, 409, 409, 403]);
    for replay in [1, 5] {
        assert_eq!(answers[replay].2, answers[0].2, "byte for byte");
        assert!(answers[replay].1.contains("idempotency-replayed: true"), "{}", answers[replay].1);
    }
    let body = |at: usize| serde_json::from_slice::<Value>(&answers[at].2).unwrap();
    for (short, ordinary) in [(2, 6), (4, 7)] {
        for field in ["type", "title", "status", "code", "detail", "taken"] {
            assert_eq!(body(short)[field], body(ordinary)[field], "{field}");
        }
        assert!(!body(short)["traceId"].is_null());
        for at in [short, ordinary] {
            let head = answers[at].1.to_ascii_lowercase();
            assert!(head.contains("content-type: application/problem+json"), "{head}");
            assert!(head.contains("content-language: en"), "{head}");
        }
    }
    assert_eq!(body(8)["code"], "ORIGIN_FORBIDDEN");
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn polls_are_counted_like_everything_else() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan().await;
    let token = text(&fan.enter(&show).await.expect(200), "token");
    let path = format!("/api/queue/status?scheduleId={}", show.schedule);
    for _ in 0..3 {
        let call = world.stranger.call(reqwest::Method::GET, &path).header("Queue-Token", &token);
        crate::support::client::send(call).await.expect(200);
    }
    let call = world.stranger.call(reqwest::Method::GET, "/metrics");
    let metrics = call.send().await.unwrap().text().await.unwrap();
    let line = metrics.lines().find(|line| {
        line.contains("request_duration_seconds_count") && line.contains("\"/api/queue/status\"")
    });
    assert!(line.is_some_and(|line| line.ends_with(" 3")), "{line:?}");
}
