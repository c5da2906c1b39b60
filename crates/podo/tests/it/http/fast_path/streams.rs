//! Differential tests of the streams, and what only a stream without hyper can get wrong.

use crate::http::fast_path::differential::{HEADERS, ORDINARY, seen};
use crate::http::raw::{RawResponse, first_answer};
use crate::support::client::text;
use crate::support::fan::Fan;
use crate::support::world::{Plan, Show, World, until};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// Longer than any pause of a stream.
const PATIENCE: Duration = Duration::from_secs(20);

/// A connection that reads chunk by chunk.
struct RawStream {
    stream: TcpStream,
    read: Vec<u8>,
}

/// A response that may be a stream: its first event is the body.
type FirstEvent = (u16, BTreeMap<String, String>, Value);

impl RawStream {
    fn open(address: SocketAddr, bytes: &[u8]) -> RawStream {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        // The server may refuse the request before it has read all of it.
        let _ = stream.write_all(bytes);
        RawStream { stream, read: Vec::new() }
    }

    /// Reads more; false at the end of the connection.
    fn more(&mut self) -> bool {
        let mut bytes = [0; 4_096];
        let n_bytes = self.stream.read(&mut bytes).unwrap_or(0);
        self.read.extend_from_slice(&bytes[..n_bytes]);
        n_bytes > 0
    }

    /// The next head with its body; the body of a stream stays unread.
    fn answer(&mut self) -> Option<RawResponse> {
        loop {
            if let Some((answer, rest)) = first_answer(&self.read) {
                self.read = rest.to_vec();
                return Some(answer);
            }
            if !self.more() {
                return None;
            }
        }
    }

    /// The next chunk; empty at the end of the stream.
    fn chunk(&mut self) -> String {
        loop {
            if let Some((chunk, rest)) = first_chunk(&self.read) {
                self.read = rest;
                return chunk;
            }
            assert!(self.more(), "the stream breaks off: {:?}", self.read);
        }
    }

    /// The next event, which may consist of several chunks: its name and its data.
    fn event(&mut self) -> Option<(String, Value)> {
        let mut event = String::new();
        while !event.ends_with("\n\n") || event.starts_with(':') {
            let chunk = self.chunk();
            if chunk.is_empty() {
                return None;
            }
            if event.starts_with(':') {
                event.clear();
            }
            event.push_str(&chunk);
        }
        let field = |name: &str| event.lines().find_map(|line| line.strip_prefix(name));
        let data = serde_json::from_str(field("data: ").unwrap()).unwrap();
        Some((field("event: ").unwrap().to_owned(), data))
    }

    fn seen(&mut self) -> Option<FirstEvent> {
        let mut answer = self.answer()?;
        if answer.headers.contains_key("transfer-encoding") {
            let (name, mut data) = self.event().unwrap();
            data["event"] = json!(name);
            answer.body = data.to_string().into_bytes();
        }
        Some(seen(&answer))
    }
}

fn first_chunk(bytes: &[u8]) -> Option<(String, Vec<u8>)> {
    let end = bytes.windows(2).position(|two| two == b"\r\n")?;
    let length = usize::from_str_radix(std::str::from_utf8(&bytes[..end]).unwrap(), 16).unwrap();
    let chunk = bytes.get(end + 2..end + 2 + length)?;
    let rest = bytes.get(end + 2 + length..)?.strip_prefix(b"\r\n")?;
    Some((String::from_utf8(chunk.to_vec()).unwrap(), rest.to_vec()))
}

/// A fan who waits, and the requests for both streams.
struct Listening {
    show: Show,
    fan: Fan,
    queue: String,
    seats: String,
}

async fn listening(world: &World) -> Listening {
    let show = world.show(Plan { n_seats: 4, max_active: 1, ..Plan::default() }).await;
    let _inside = world.fan_inside(&show).await;
    let fan = world.fan().await;
    let place = text(&fan.enter(&show).await.expect(200), "token");
    let id = show.schedule;
    let queue = format!(
        "GET /api/queue/stream?scheduleId={id} HTTP/1.1\r\nHost: podo\r\n\
         Queue-Token: {place}\r\n\r\n"
    );
    let seats = format!("GET /api/schedules/{id}/seats/stream HTTP/1.1\r\nHost: podo\r\n\r\n");
    Listening { show, fan, queue, seats }
}

/// Requests that both transports must read in the same way.
fn odd_requests(listening: &Listening) -> Vec<String> {
    let Listening { show, fan, queue, seats } = listening;
    let (id, token) = (show.schedule.to_string(), fan.api.token());
    let mut cases = Vec::new();
    for request in [queue, seats] {
        let with = |header: &str| request.replacen("\r\n", &format!("\r\n{header}"), 1);
        cases.extend(HEADERS.map(with));
        cases.extend(
            [
                "Last-Event-ID: 7\r\n",
                "Last-Event-ID: nonsense\r\n",
                "Last-Event-ID: 1\r\nLast-Event-ID: 2\r\n",
                "Accept: text/event-stream\r\n",
                "Accept: image/png\r\n",
                "Accept-Encoding: gzip\r\n",
                "Traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n",
                "X-Forwarded-For: 203.0.113.7\r\n",
                "Cookie: a=b\r\nCookie: c=d\r\n",
                "Connection: keep-alive\r\n",
            ]
            .map(with),
        );
        cases.push(with(&format!("Authorization: Bearer {token}\r\n")));
        cases.push(with(&format!("X: {}\r\n", "y".repeat(5_000))));
        cases.push(with(&"X: y\r\n".repeat(40)));
        cases.push(request.clone());
        cases.push(request.replace("GET", "POST"));
        cases.push(request.replace("HTTP/1.1", "HTTP/1.0"));
        cases.push(request.replace("Host: podo\r\n", ""));
        cases.push(request.replace("/api/", "/%61pi/"));
        cases.push(request.replace("/api/", "http://podo/api/"));
        cases.push(request.replace(&id, &id.to_ascii_uppercase()));
        cases.push(request.replace(&id, "7"));
        cases.push(request.replace(&id, "0190a000-0000-7000-8000-000000000000"));
        cases.push(request.replace("/stream", "/stream?x=1&"));
        cases.push(request.replace("/stream", "/stream/"));
        cases.push(request.replace(" HTTP/1.1", "&scheduleId=7 HTTP/1.1"));
        cases.push(request.replace("Queue-Token: ", "Queue-Token: x"));
        cases.push(request.replace("Queue-Token: ", "Authorization: Bearer "));
    }
    cases
}

/// The response at the start of a connection, and after an ordinary request.
fn both_ways(address: SocketAddr, request: &str) -> [Option<FirstEvent>; 2] {
    let first = RawStream::open(address, request.as_bytes()).seen();
    let mut ordinary = RawStream::open(address, &[ORDINARY, request.as_bytes()].concat());
    assert_eq!(ordinary.answer().unwrap().status, 200);
    // hyper's own response to bytes that are no request has no headers of ours.
    [first, ordinary.seen()].map(|seen| seen.filter(|it| it.1.contains_key("x-request-id")))
}

#[tokio::test(flavor = "multi_thread")]
async fn both_ways_open_the_same_stream() {
    let settings = [("PODO_PUBLIC_URL", "https://podo.example")];
    let world = World::with(&settings).await;
    let listening = listening(&world).await;
    let address = world.running.address;
    let check = move || {
        let cases = odd_requests(&listening);
        assert!(cases.len() > 130, "{}", cases.len());
        let mut n_streams = 0;
        for case in &cases {
            let [first, ordinary] = both_ways(address, case);
            assert_eq!(first, ordinary, "fast path and hyper, for {case:?}");
            n_streams += u32::from(first.is_some_and(|it| it.0 == 200));
        }
        assert!(n_streams > 40, "{n_streams} of {} are streams", cases.len());
    };
    tokio::task::spawn_blocking(check).await.unwrap();
}

/// The same with limits: what remains of them, and the refusal beyond them.
#[tokio::test(flavor = "multi_thread")]
async fn both_ways_refuse_the_same_number_of_streams() {
    let limits = [("PODO_LIMITS", "on"), ("PODO_REQUESTS_PER_SECOND_PER_IP", "1000")];
    for (name, value, n_streams) in [
        ("PODO_STREAMS_PER_IP", "5", 5),
        // A megabyte for all, 64 KB for each.
        ("PODO_UNSENT_MB_PER_IP", "1", 16),
    ] {
        let world = World::with(&[limits[0], limits[1], (name, value)]).await;
        let Listening { seats, .. } = listening(&world).await;
        let address = world.running.address;
        for before in [&b""[..], ORDINARY] {
            let open = || {
                let mut wire = RawStream::open(address, &[before, seats.as_bytes()].concat());
                if !before.is_empty() {
                    wire.answer().unwrap();
                }
                (wire.seen().unwrap(), wire)
            };
            // Streams of the other transport may still be open.
            let first = until("there is room", async || {
                let opened = open();
                (opened.0.0 == 200).then_some(opened)
            });
            let first = first.await;
            let mut wires = vec![first.1];
            let refused = loop {
                let (seen, wire) = open();
                if seen.0 != 200 {
                    break seen;
                }
                wires.push(wire);
            };
            assert_eq!((refused.0, wires.len()), (429, n_streams), "{name}");
            assert!(refused.1.contains_key("retry-after"), "{refused:?}");
        }
    }
}

/// A stream that ends leaves its connection to the next request, even to one that came early.
#[tokio::test(flavor = "multi_thread")]
async fn a_connection_outlives_its_stream() {
    let world = World::start().await;
    let listening = listening(&world).await;
    let address = world.running.address;
    let both = [&b""[..], ORDINARY].map(|before| {
        let early = [before, listening.queue.as_bytes(), ORDINARY].concat();
        let mut wire = RawStream::open(address, &early);
        if !before.is_empty() {
            wire.answer().unwrap();
        }
        assert_eq!(wire.answer().unwrap().status, 200);
        assert_eq!(wire.event().unwrap().0, "message");
        wire
    });
    listening.fan.leave(&listening.show).await;
    for mut wire in both {
        let last = std::iter::from_fn(|| wire.event()).last();
        assert_eq!(last, Some(("problem".to_owned(), json!({ "code": "NOT_IN_QUEUE" }))));
        let next = wire.answer().expect("the request that came early is answered");
        assert_eq!((next.status, next.headers.get("transfer-encoding")), (200, None));
        wire.stream.write_all(listening.queue.as_bytes()).unwrap();
        assert_eq!(wire.answer().unwrap().status, 404, "the fan has left");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_leaves_gives_its_stream_back_at_once() {
    let limits = [("PODO_LIMITS", "on"), ("PODO_REQUESTS_PER_SECOND_PER_IP", "1000")];
    let world = World::with(&[limits[0], limits[1], ("PODO_STREAMS_PER_IP", "1")]).await;
    let Listening { queue, .. } = listening(&world).await;
    let address = world.running.address;
    let mut wire = RawStream::open(address, queue.as_bytes());
    assert_eq!(wire.seen().unwrap().0, 200);
    assert_eq!(RawStream::open(address, queue.as_bytes()).seen().unwrap().0, 429);
    drop(wire);
    // No event and no heartbeat is due to fail.
    until("the stream is free", async || {
        let status = RawStream::open(address, queue.as_bytes()).seen().unwrap().0;
        (status == 200).then_some(())
    })
    .await;
}
