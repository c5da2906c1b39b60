//! Nearly idle connections: the server closes them, and serves others in the meantime.

use crate::http::raw::{PREFACE, SETTINGS, connect_from, frame, is_closed_within, read_frame};
use crate::support::world::{Plan, World};
use podo_testbed::Launch;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Above the limits of these tests, with room for a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

const SETTINGS_OF_TEST: [(&str, &str); 3] =
    [("PODO_HEADER_SECONDS", "2"), ("PODO_REQUEST_SECONDS", "4"), ("PODO_IDLE_SECONDS", "3")];

/// A request whose body never arrives.
fn without_body(path: &str, kind: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nHost: podo\r\nContent-Type: {kind}\r\nContent-Length: 50\r\n\r\n"
    )
}

/// A complete request for the fast path.
fn a_poll() -> String {
    let id = "0190a000-0000-7000-8000-000000000000";
    format!(
        "GET /api/queue/status?scheduleId={id} HTTP/1.1\r\nHost: podo\r\nQueue-Token: x\r\n\r\n"
    )
}

const FORM: &str = "application/x-www-form-urlencoded";

/// What a connection sends before it falls silent.
fn beginnings() -> Vec<(&'static str, Vec<u8>)> {
    let http2 = [PREFACE, &frame(SETTINGS, 0, 0, &[])].concat();
    vec![
        ("nothing", Vec::new()),
        ("half a request line", b"GET /api/ev".to_vec()),
        ("half a preface", PREFACE[..12].to_vec()),
        ("one byte of a preface", PREFACE[..1].to_vec()),
        ("a preface", PREFACE.to_vec()),
        ("a preface with its settings", http2),
        ("/enter", without_body("/enter", FORM).into_bytes()),
        ("/join", without_body("/join", FORM).into_bytes()),
        ("/join/confirm", without_body("/join/confirm", FORM).into_bytes()),
        ("a log-in", without_body("/api/auth/login", "application/json").into_bytes()),
        ("the fast path", without_body("/api/queue/enter", "application/json").into_bytes()),
        ("a webhook", without_body("/api/payment/webhooks/toss", "application/json").into_bytes()),
        ("a request", b"GET /livez HTTP/1.1\r\nHost: podo\r\n\r\n".to_vec()),
        ("a request of the fast path", a_poll().into_bytes()),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_is_closed_after_its_deadline_whatever_its_first_bytes() {
    let world = World::with(&SETTINGS_OF_TEST).await;
    let mut waits = Vec::new();
    for (what, bytes) in beginnings() {
        let mut stream = connect_from(1, world.running.address).await;
        stream.write_all(&bytes).await.unwrap();
        waits.push(async move { (what, is_closed_within(PATIENCE, &mut stream).await) });
    }
    let ended = futures::future::join_all(waits).await;
    let kept: Vec<_> = ended.into_iter().filter(|(_, is_over)| !is_over).collect();
    assert!(kept.is_empty(), "never let go: {kept:?}");
}

/// Sends `quick` at once and then a byte of `slow` every second. Returns whether the server closes
/// the connection, whatever it sends before.
async fn is_let_go(mut stream: TcpStream, quick: &[u8], slow: &[u8]) -> bool {
    let started = Instant::now();
    if stream.write_all(quick).await.is_err() {
        return true;
    }
    for byte in slow {
        if PATIENCE < started.elapsed() {
            return false;
        }
        if stream.write_all(&[*byte]).await.is_err() {
            return true;
        }
        let second_over = tokio::time::Instant::now() + Duration::from_secs(1);
        let mut answer = [0; 512];
        while let Ok(read) = tokio::time::timeout_at(second_over, stream.read(&mut answer)).await {
            if !read.is_ok_and(|n_bytes| n_bytes > 0) {
                return true;
            }
        }
    }
    false
}

#[tokio::test(flavor = "multi_thread")]
async fn a_byte_now_and_then_does_not_keep_a_connection() {
    let world = World::with(&SETTINGS_OF_TEST).await;
    let id = "0190a000-0000-7000-8000-000000000000";
    let body = "a".repeat(50);
    let poll = format!("GET /api/queue/status?scheduleId={id} HTTP/1.1\r\n");
    // What to send at once, and what to send slowly.
    let requests = [
        (String::new(), format!("{poll}Host: podo\r\n")),
        (poll, format!("Host: podo\r\nQueue-Token: {id}\r\n")),
        (without_body("/api/queue/enter", "application/json"), body.clone()),
        (String::new(), format!("GET /api/events HTTP/1.1\r\nHost: podo\r\nX-Slow: {id}\r\n")),
        (String::new(), String::from_utf8(PREFACE.to_vec()).unwrap()),
        (without_body("/enter", FORM), body.clone()),
        (without_body("/api/auth/login", "application/json"), body),
    ];
    // All concurrently: a connection that waits for the others would be closed as idle.
    let waits = requests.map(async |(quick, slow)| {
        let stream = connect_from(1, world.running.address).await;
        (is_let_go(stream, quick.as_bytes(), slow.as_bytes()).await, quick, slow)
    });
    let ended = futures::future::join_all(waits).await;
    let kept: Vec<_> = ended.into_iter().filter(|(is_over, ..)| !is_over).collect();
    assert!(kept.is_empty(), "never let go: {kept:?}");
}

/// A correct HTTP/2 client that sends no request.
#[tokio::test(flavor = "multi_thread")]
async fn an_idle_http2_connection_that_answers_pings_is_let_go() {
    let world = World::with(&SETTINGS_OF_TEST).await;
    let mut stream = connect_from(1, world.running.address).await;
    let begin =
        [PREFACE, &frame(SETTINGS, 0, 0, &[]), &crate::http::raw::get(1, "/livez", &[])].concat();
    stream.write_all(&begin).await.unwrap();
    let listen = async { while read_frame(&mut stream).await.is_ok() {} };
    assert!(tokio::time::timeout(PATIENCE, listen).await.is_ok(), "never let go");
}

/// A client that vanished doesn't close its connection: only pings detect it.
#[tokio::test(flavor = "multi_thread")]
async fn an_http2_client_that_answers_no_ping_is_let_go() {
    let world = World::with(&[("PODO_SEND_STALL_SECONDS", "2")]).await;
    let show = world.show(Plan::default()).await;
    let mut stream = connect_from(1, world.running.address).await;
    let path = format!("/api/schedules/{}/seats/stream", show.schedule);
    let begin =
        [PREFACE, &frame(SETTINGS, 0, 0, &[]), &crate::http::raw::get(1, &path, &[])].concat();
    stream.write_all(&begin).await.unwrap();
    // It keeps reading, so only the missing pongs can end it.
    assert!(is_closed_within(2 * PATIENCE, &mut stream).await, "never let go");
}

/// Sends a request on a new connection, like a new fan.
async fn is_served(address: SocketAddr) -> bool {
    let ask = async {
        let mut stream = TcpStream::connect(address).await?;
        stream.write_all(b"GET /livez HTTP/1.1\r\nHost: podo\r\nConnection: close\r\n\r\n").await?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await?;
        Ok::<_, std::io::Error>(answer.starts_with(b"HTTP/1.1 200"))
    };
    matches!(tokio::time::timeout(Duration::from_secs(5), ask).await, Ok(Ok(true)))
}

#[tokio::test(flavor = "multi_thread")]
async fn twelve_hundred_silent_sockets_of_six_addresses_do_not_block_other_clients() {
    const PER_ADDRESS: u8 = 200;
    let launch = Launch::new(env!("CARGO_BIN_EXE_podo")).open_files(1_024);
    let podo = launch.start().unwrap();
    let address = podo.url().strip_prefix("http://").unwrap().parse().unwrap();
    assert!(is_served(address).await);
    let beginnings = beginnings();
    let mut held = Vec::new();
    for number in 0..PER_ADDRESS {
        for last in 2..8 {
            // A full server may refuse them, which is fine.
            let Ok(mut stream) = crate::http::raw::try_connect_from(last, address).await else {
                continue;
            };
            let (_, bytes) = &beginnings[usize::from(number) % beginnings.len()];
            let _ = stream.write_all(bytes).await;
            held.push(stream);
        }
    }
    let mut n_served = 0;
    for _ in 0..30 {
        n_served += u32::from(is_served(address).await);
    }
    assert_eq!(n_served, 30, "of thirty others; {} sockets are held", held.len());
}
