//! Clients that request a lot and read nothing: unread responses cost the server little, and it
//! closes the connections.

use crate::http::raw::{
    Frame, HEADERS, RESET, connect_from, get, is_closed_within, n_connected,
    preface_with_no_window, read_frame, resident_mib,
};
use crate::support::client::Api;
use crate::support::world::{Plan, Show, World, config, until};
use podo::bootstrap;
use podo_testbed::{Launch, Podo};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const N_ROWS: u32 = 250;
const SEATS_PER_ROW: u32 = 200;

/// Seven megabytes each if a response is built as a whole: 100 of them took 649 MB over HTTP/2.
const ANSWERS_HTTP2: u32 = 100;

/// The same over HTTP/1, one connection each, took 417 MB.
const ANSWERS_HTTP1: usize = 60;

/// A tenth of what they took before.
const MEMORY_MAX_MIB: u64 = 40;

const PATIENCE: Duration = Duration::from_secs(90);

/// Room for the layouts of two stadiums.
const UNSENT_MB: &str = "16";

/// Creates a hall of fifty thousand seats and a fan in a folder, and stops.
async fn prepare(folder: &Path) -> (Show, String) {
    let config = config(folder, &[]);
    let world = World::on(&config, bootstrap::context(&config).await.unwrap()).await;
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
    /// A server with the default limits, except for these settings.
    async fn start(settings: &[(&str, &str)]) -> Attacked {
        let folder = TempDir::with_prefix("podo-").unwrap();
        let (show, fan) = prepare(folder.path()).await;
        let launch = Launch::new(env!("CARGO_BIN_EXE_podo")).data(folder.path());
        let launch = settings.iter().fold(launch, |launch, (name, value)| launch.env(name, value));
        let podo = launch.start().unwrap();
        let address = podo.url().strip_prefix("http://").unwrap().parse().unwrap();
        // Builds the shared data before the measurement.
        let api = Api::at(podo.url()).with_token(&fan);
        api.get(&seats_of_fan(&show)).await.expect(200);
        api.get(&format!("/api/schedules/{}/seats", show.schedule)).await.expect(200);
        let memory_mib = resident_mib(podo.pid().unwrap());
        Attacked { podo, show, fan, address, memory_mib, _folder: folder }
    }

    fn grown_mib(&self) -> u64 {
        resident_mib(self.podo.pid().unwrap()).saturating_sub(self.memory_mib)
    }

    fn n_connected(&self) -> usize {
        n_connected(2, self.address)
    }
}

/// The server closes a connection whose client reads nothing for this long.
const STALL: (&str, &str) = ("PODO_SEND_STALL_SECONDS", "8");

fn seats_of_fan(show: &Show) -> String {
    format!("/api/booking/seats?scheduleId={}", show.schedule)
}

/// The next frame that starts or refuses a response.
async fn read_answer(stream: &mut TcpStream) -> std::io::Result<Frame> {
    loop {
        let frame = read_frame(stream).await?;
        if frame.kind == HEADERS || frame.kind == RESET {
            return Ok(frame);
        }
    }
}

/// Whether a response starts with `:status: 200`, the eighth entry of the static table.
fn is_ok(frame: &Frame) -> bool {
    frame.kind == HEADERS && frame.payload[0] == 0x88
}

#[tokio::test(flavor = "multi_thread")]
async fn an_http2_client_that_takes_nothing_costs_little_and_is_let_go() {
    const STREAMS_MAX: u32 = 64;
    let attacked = Attacked::start(&[STALL]).await;
    let mut stream = connect_from(2, attacked.address).await;
    let token = format!("Bearer {}", attacked.fan);
    let path = seats_of_fan(&attacked.show);
    stream.write_all(&preface_with_no_window()).await.unwrap();
    for number in 0..ANSWERS_HTTP2 {
        stream.write_all(&get(2 * number + 1, &path, &[("authorization", &token)])).await.unwrap();
    }
    let (mut n_answered, mut n_refused) = (0, 0);
    let wait = async {
        while n_answered + n_refused < ANSWERS_HTTP2 {
            let Ok(frame) = read_answer(&mut stream).await else { break };
            n_answered += u32::from(is_ok(&frame));
            n_refused += u32::from(!is_ok(&frame));
        }
    };
    tokio::time::timeout(PATIENCE, wait).await.expect("every request is answered or refused");
    let grown = attacked.grown_mib();
    println!("{} + {grown} MiB, {n_answered} answers, {n_refused} refused", attacked.memory_mib);
    assert!(grown < MEMORY_MAX_MIB, "{grown} MiB for {n_answered} unread answers");
    assert_eq!((n_answered, n_refused), (STREAMS_MAX, ANSWERS_HTTP2 - STREAMS_MAX));
    assert!(is_closed_within(Duration::from_secs(20), &mut stream).await, "it is never let go");
}

#[tokio::test(flavor = "multi_thread")]
async fn http1_clients_that_take_nothing_cost_little_and_are_let_go() {
    let attacked = Attacked::start(&[STALL]).await;
    let request = format!(
        "GET {} HTTP/1.1\r\nHost: podo\r\nAuthorization: Bearer {}\r\n\r\n",
        seats_of_fan(&attacked.show),
        attacked.fan
    );
    // All of them send their requests before the first connection is closed.
    let mut streams = Vec::new();
    for _ in 0..ANSWERS_HTTP1 {
        let mut stream = connect_from(2, attacked.address).await;
        stream.write_all(request.as_bytes()).await.unwrap();
        streams.push(stream);
    }
    for stream in &mut streams {
        let mut start = [0; 12];
        let read = tokio::time::timeout(PATIENCE, stream.read_exact(&mut start));
        read.await.expect("it is answered").unwrap();
        assert_eq!(&start, b"HTTP/1.1 200");
    }
    assert_eq!(attacked.n_connected(), ANSWERS_HTTP1, "all of them are still connected");
    let grown = attacked.grown_mib();
    println!("{} + {grown} MiB, {ANSWERS_HTTP1} answers", attacked.memory_mib);
    assert!(grown < MEMORY_MAX_MIB, "{grown} MiB for {ANSWERS_HTTP1} unread answers");
    until("the server closes them", async || (attacked.n_connected() == 0).then_some(())).await;
    for stream in &mut streams {
        let mut got = Vec::new();
        let read = tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut got));
        let _ = read.await.expect("it is closed");
        assert!(!got.ends_with(b"0\r\n\r\n") && !got.ends_with(b"]}"), "the whole answer came");
    }
}

/// The first line of the response to a GET from this address; the rest stays unread.
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

/// One stalled connection uses up its own share of the address's budget and no more.
#[tokio::test(flavor = "multi_thread")]
async fn a_connection_has_a_quarter_of_the_unsent_bytes_of_its_address() {
    let settings = [("PODO_LIMITS", "on"), ("PODO_UNSENT_MB_PER_IP", UNSENT_MB)];
    let world = World::with(&settings).await;
    let show = stadium(&world).await;
    let path = format!("/api/schedules/{}/layout", show.schedule);
    let n_bytes = world.stranger.get(&path).await.text.len();
    let max = UNSENT_MB.parse::<usize>().unwrap() << 20;
    assert!(max / 4 < n_bytes && 2 * n_bytes <= max && max < 3 * n_bytes, "{n_bytes} bytes");
    let open = async || {
        let mut stream = connect_from(2, world.running.address).await;
        stream.write_all(&preface_with_no_window()).await.unwrap();
        stream
    };
    let ask = async |stream: &mut TcpStream, number: u32| {
        stream.write_all(&get(number, &path, &[])).await.unwrap();
        let answer = tokio::time::timeout(PATIENCE, read_answer(stream)).await;
        is_ok(&answer.expect("it is answered or refused").unwrap())
    };
    let (mut first, mut second, mut third) = (open().await, open().await, open().await);
    assert!(ask(&mut first, 1).await, "one answer always fits");
    assert!(!ask(&mut first, 3).await, "the connection has used up its share");
    assert!(ask(&mut second, 1).await, "another connection has its own");
    assert!(!ask(&mut third, 1).await, "the address has used up its budget");
}

/// Streams need no login, so only their number and their size can be limited.
#[tokio::test(flavor = "multi_thread")]
async fn seat_streams_of_one_address_have_an_end() {
    const N_CONNECTIONS: u32 = 20;
    const STREAMS_EACH: u32 = 50;
    const STREAMS_PER_IP: u32 = 100;
    // No other limit refuses any of them, and no connection ends in the meantime.
    let settings =
        [("PODO_SEND_STALL_SECONDS", "600"), ("PODO_REQUESTS_PER_SECOND_PER_IP", "100000")];
    let attacked = Attacked::start(&settings).await;
    let path = format!("/api/schedules/{}/seats/stream", attacked.show.schedule);
    let (mut kept, mut n_open) = (Vec::new(), 0);
    for _ in 0..N_CONNECTIONS {
        let mut stream = connect_from(2, attacked.address).await;
        stream.write_all(&preface_with_no_window()).await.unwrap();
        for number in 0..STREAMS_EACH {
            stream.write_all(&get(2 * number + 1, &path, &[])).await.unwrap();
            let answer = tokio::time::timeout(PATIENCE, read_answer(&mut stream)).await;
            n_open += u32::from(is_ok(&answer.unwrap().unwrap()));
        }
        kept.push(stream);
    }
    let (grown, n_asked) = (attacked.grown_mib(), N_CONNECTIONS * STREAMS_EACH);
    println!("{} + {grown} MiB, {n_open} of {n_asked} streams", attacked.memory_mib);
    assert_eq!(n_open, STREAMS_PER_IP, "{n_asked} were asked for");
    assert!(grown < 20, "{grown} MiB for {n_open} unread streams");
    // Another address still gets one.
    let mut stream = connect_from(3, attacked.address).await;
    let request = format!("GET {path} HTTP/1.1\r\nHost: podo\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut start = [0; 12];
    tokio::time::timeout(PATIENCE, stream.read_exact(&mut start)).await.unwrap().unwrap();
    assert_eq!(&start, b"HTTP/1.1 200");
}
