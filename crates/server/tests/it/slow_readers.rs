//! Clients that ask for much and take nothing: what they have not taken costs the server little, and
//! they are let go.

use crate::client::Api;
use crate::raw::{
    HEADERS, RESET, connect_from, get, is_closed_within, preface_with_no_window, read_frame,
    resident_mib,
};
use crate::world::{Plan, Show, World, config, until};
use serde_json::{Value, json};
use server::wire;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;
use testbed::{Launch, Podo};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const N_ROWS: u32 = 250;
const SEATS_PER_ROW: u32 = 200;

/// Seven megabytes each, as long as an answer was made as a whole.
const N_ANSWERS: u32 = 40;

/// A quarter of what they took before.
const MEMORY_MAX_MIB: u64 = 70;

const PATIENCE: Duration = Duration::from_secs(90);

/// Makes a hall of fifty thousand seats and a fan in a folder, and leaves.
async fn prepare(folder: &Path) -> (Show, String) {
    let config = config(folder, &[]);
    let world = World::on(&config, wire::platform(&config).await.unwrap()).await;
    let show = stadium(&world).await;
    let fan = world.fan().await.api.token().to_owned();
    world.running.stop().await;
    (show, fan)
}

async fn stadium(world: &World) -> Show {
    let rows: Vec<String> = (1..=N_ROWS).map(|row| row.to_string()).collect();
    let grades: serde_json::Map<String, Value> =
        rows.iter().map(|row| (row.clone(), json!("R"))).collect();
    let template = json!({ "layoutType": "grid", "rows": rows, "seatsPerRow": SEATS_PER_ROW,
        "gradeMapping": grades });
    world.show_in(template, json!({ "R": 40_000 }), Plan::default()).await
}

struct Attacked {
    podo: Podo,
    show: Show,
    fan: String,
    address: SocketAddr,
    memory_mib: u64,
    _folder: TempDir,
}

impl Attacked {
    /// A server with the limits that every installation has, only that it loses patience earlier.
    async fn start(stall_seconds: &str) -> Attacked {
        let folder = TempDir::with_prefix("podo-").unwrap();
        let (show, fan) = prepare(folder.path()).await;
        let launch = Launch::new(env!("CARGO_BIN_EXE_podo")).data(folder.path());
        let podo = launch.env("PODO_SEND_STALL_SECONDS", stall_seconds).start().unwrap();
        let address = podo.url().strip_prefix("http://").unwrap().parse().unwrap();
        // What everybody shares is there before it is measured.
        let api = Api::at(podo.url()).with_token(&fan);
        api.get(&seats_of_fan(&show)).await.expect(200);
        api.get(&format!("/api/schedules/{}/seats", show.schedule)).await.expect(200);
        let memory_mib = resident_mib(podo.pid().unwrap());
        Attacked { podo, show, fan, address, memory_mib, _folder: folder }
    }

    fn grown_mib(&self) -> u64 {
        resident_mib(self.podo.pid().unwrap()).saturating_sub(self.memory_mib)
    }
}

fn seats_of_fan(show: &Show) -> String {
    format!("/api/booking/seats?scheduleId={}", show.schedule)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_http2_client_that_takes_nothing_costs_little_and_is_let_go() {
    let attacked = Attacked::start("4").await;
    let mut stream = connect_from(2, attacked.address).await;
    let token = format!("Bearer {}", attacked.fan);
    let path = seats_of_fan(&attacked.show);
    stream.write_all(&preface_with_no_window()).await.unwrap();
    for number in 0..N_ANSWERS {
        stream.write_all(&get(2 * number + 1, &path, &[("authorization", &token)])).await.unwrap();
    }
    let mut n_answered = 0;
    let wait = async {
        while n_answered < N_ANSWERS {
            let Ok(frame) = read_frame(&mut stream).await else { break };
            n_answered += u32::from(frame.kind == HEADERS || frame.kind == RESET);
        }
    };
    tokio::time::timeout(PATIENCE, wait).await.expect("every request is answered or refused");
    let grown = attacked.grown_mib();
    assert!(grown < MEMORY_MAX_MIB, "{grown} MiB for {n_answered} answers that nobody takes");
    assert!(is_closed_within(Duration::from_secs(20), &mut stream).await, "it is never let go");
}

#[tokio::test(flavor = "multi_thread")]
async fn http1_clients_that_take_nothing_cost_little_and_are_let_go() {
    let attacked = Attacked::start("4").await;
    let request = format!(
        "GET {} HTTP/1.1\r\nHost: podo\r\nAuthorization: Bearer {}\r\n\r\n",
        seats_of_fan(&attacked.show),
        attacked.fan
    );
    let mut streams = Vec::new();
    for _ in 0..N_ANSWERS {
        let mut stream = connect_from(2, attacked.address).await;
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut start = [0; 12];
        let read = tokio::time::timeout(PATIENCE, stream.read_exact(&mut start));
        read.await.expect("it is answered").unwrap();
        assert_eq!(&start, b"HTTP/1.1 200");
        streams.push(stream);
    }
    let grown = attacked.grown_mib();
    assert!(grown < MEMORY_MAX_MIB, "{grown} MiB for {N_ANSWERS} answers that nobody takes");
    // The server gives up, and what it had sent so far is all that they get.
    tokio::time::sleep(Duration::from_secs(8)).await;
    for stream in &mut streams {
        let mut got = Vec::new();
        let read = tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut got));
        let _ = read.await.expect("it is closed");
        assert!(!got.ends_with(b"0\r\n\r\n") && !got.ends_with(b"]}"), "the whole answer came");
    }
}

/// The first line of the answer to a GET from this address; the rest is not taken.
async fn begin_to_read(world: &World, last: u8, path: &str) -> (String, TcpStream) {
    let mut stream = connect_from(last, world.running.address).await;
    let request = format!("GET {path} HTTP/1.1\r\nHost: podo\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut start = [0; 12];
    tokio::time::timeout(PATIENCE, stream.read_exact(&mut start)).await.unwrap().unwrap();
    (String::from_utf8(start.to_vec()).unwrap(), stream)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_that_does_not_take_its_answers_gets_no_more_large_ones() {
    let settings = [("PODO_LIMITS", "on"), ("PODO_UNSENT_MB_PER_IP", "1")];
    let world = World::with(&settings).await;
    let show = stadium(&world).await;
    let path = format!("/api/schedules/{}/layout", show.schedule);
    let (first, unread) = begin_to_read(&world, 2, &path).await;
    assert_eq!(first, "HTTP/1.1 200", "one answer always fits");
    assert_eq!(begin_to_read(&world, 2, &path).await.0, "HTTP/1.1 429");
    assert_eq!(begin_to_read(&world, 2, "/api/events").await.0, "HTTP/1.1 200", "a small one");
    assert_eq!(begin_to_read(&world, 3, &path).await.0, "HTTP/1.1 200", "another address");
    drop(unread);
    until("there is room again", async || {
        (begin_to_read(&world, 2, &path).await.0 == "HTTP/1.1 200").then_some(())
    })
    .await;
}

/// Streams need no log-in, so only their number and their size can be limited.
#[tokio::test(flavor = "multi_thread")]
async fn seat_streams_of_one_address_have_an_end() {
    const STREAMS_PER_IP: usize = 100;
    let attacked = Attacked::start("60").await;
    let path = format!("/api/schedules/{}/seats/stream", attacked.show.schedule);
    let (mut kept, mut n_open, mut n_refused) = (Vec::new(), 0, 0);
    // As many as an address may ask for, until it has as many as it may.
    'all: for _ in 0..20 {
        let mut stream = connect_from(2, attacked.address).await;
        stream.write_all(&preface_with_no_window()).await.unwrap();
        for number in 0..20 {
            stream.write_all(&get(2 * number + 1, &path, &[])).await.unwrap();
            let answer = async {
                loop {
                    let frame = read_frame(&mut stream).await.unwrap();
                    if frame.kind == HEADERS || frame.kind == RESET {
                        return frame;
                    }
                }
            };
            let frame = tokio::time::timeout(PATIENCE, answer).await.unwrap();
            // `:status: 200` is the eighth entry of the static table.
            let is_open = frame.kind == HEADERS && frame.payload[0] == 0x88;
            n_open += usize::from(is_open);
            n_refused += usize::from(!is_open);
            tokio::time::sleep(Duration::from_millis(12)).await;
            if n_refused == 10 {
                kept.push(stream);
                break 'all;
            }
        }
        kept.push(stream);
    }
    assert_eq!(n_refused, 10, "{n_open} streams are open");
    assert!(n_open <= STREAMS_PER_IP, "{n_open} streams are open");
    let grown = attacked.grown_mib();
    assert!(grown < 20, "{grown} MiB for {n_open} streams that nobody reads");
    // Somebody else still gets one.
    let mut stream = connect_from(3, attacked.address).await;
    let request = format!("GET {path} HTTP/1.1\r\nHost: podo\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut start = [0; 12];
    tokio::time::timeout(PATIENCE, stream.read_exact(&mut start)).await.unwrap().unwrap();
    assert_eq!(&start, b"HTTP/1.1 200");
}
