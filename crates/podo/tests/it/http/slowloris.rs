//! Five thousand sockets that send nothing, or very little very slowly (F13): others are served as
//! before, and the silent ones are closed.

use crate::support::client::Api;
use futures::future::join_all;
use podo_testbed::Launch;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

const N_SILENT: u16 = 5_000;

/// The limit of connections per address.
const PER_ADDRESS: u16 = 200;

/// A socket whose address depends on its number.
async fn connect(number: u16, to: SocketAddr) -> TcpStream {
    let [_, group] = (number / PER_ADDRESS).to_be_bytes();
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((Ipv4Addr::new(127, 0, 1, group), 0).into()).unwrap();
    socket.connect(to).await.unwrap()
}

/// The p99 latency of these requests.
async fn p99(api: &Api) -> Duration {
    let mut took = Vec::new();
    for _ in 0..300 {
        let started = Instant::now();
        api.get("/api/events").await.expect(200);
        took.push(started.elapsed());
    }
    took.sort_unstable();
    took[296]
}

/// Memory of a process in KiB.
fn resident_kib(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

async fn is_let_go(stream: &mut TcpStream) -> bool {
    let mut rest = Vec::new();
    tokio::time::timeout(Duration::from_secs(30), stream.read_to_end(&mut rest)).await.is_ok()
}

#[tokio::test(flavor = "multi_thread")]
async fn silent_sockets_cost_others_nothing_and_are_let_go() {
    let launch = Launch::new(env!("CARGO_BIN_EXE_podo"));
    let launch = launch.env("PODO_REQUESTS_PER_SECOND_PER_IP", "100000");
    let podo = launch.start().unwrap();
    let (api, pid) = (Api::at(podo.url()), podo.pid().unwrap());
    let address = podo.url().strip_prefix("http://").unwrap().parse().unwrap();
    let before = p99(&api).await;
    let memory = resident_kib(pid);
    let mut silent = Vec::new();
    for number in 0..N_SILENT {
        let mut stream = connect(number, address).await;
        // Half of them start a request and never finish it.
        if number < N_SILENT / 2 {
            stream
                .write_all(b"POST /api/auth/login HTTP/1.1\r\nhost: podo\r\nx-slow: ")
                .await
                .unwrap();
        }
        silent.push(stream);
    }
    let more_per_socket = (resident_kib(pid).saturating_sub(memory)) / u64::from(N_SILENT);
    assert!(more_per_socket < 32, "{more_per_socket} KiB for a silent socket");
    let mut during = p99(&api).await;
    // The machine is shared, so a slow measurement is repeated.
    for _ in 0..5 {
        if during < before * 2 {
            break;
        }
        during = during.min(p99(&api).await);
    }
    assert!(during < before * 2 + Duration::from_millis(2), "{during:?} instead of {before:?}");
    let let_go = join_all(silent.iter_mut().map(is_let_go)).await;
    assert_eq!(let_go.iter().filter(|it| **it).count(), usize::from(N_SILENT));
}
