//! Attackers hold connections and don't read their responses while fans poll: how much longer do
//! the fans wait, and what does it cost the server?

use crate::cli::bench::figure::table::PER_SECOND;
use crate::cli::bench::figure::{Beside, Figure, Times};
use crate::cli::bench::process::resident_kb;
use crate::cli::stage::own_server::OwnServer;
use anyhow::{Context, Result};
use podo_domain::ScheduleId;
use podo_load::{Crowd, FanAccount, Latencies, Target};
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;

/// Attacking addresses: 127.0.0.2 and the following ones.
const N_ADDRESSES: u8 = 6;

/// Connections per address that send nothing, or half a request.
const N_SILENT: usize = 190;

/// Connections per address that request the seat map and don't read it.
const N_UNREAD: usize = 10;

/// How long a response stays unread before the next request.
const UNREAD_FOR: Duration = Duration::from_secs(30);

/// Delay before a disconnected attacker reconnects.
const BACK_AFTER: Duration = Duration::from_millis(200);

/// The fans' polls in one round, and their rate per second.
const POLLS: usize = 10_000;
const PER_SECOND_ASKED: f64 = 1_000.0;
const ROUNDS: usize = 2;

/// How much longer the p99 of the fans' polls may take under attack.
const TIMES_MAX: f64 = 2.0;

/// What silent connections send first.
const BEGINNINGS: [&str; 6] = [
    "",
    "PRI * HTTP/2.0\r\n",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "POST /enter HTTP/1.1\r\nHost: podo\r\nContent-Length: 50\r\n\r\n",
    "POST /join HTTP/1.1\r\nHost: podo\r\nContent-Length: 50\r\n\r\n",
    "GET /api/queue/status HTTP/1.1\r\nHost: podo\r\nX-Slow: ",
];

/// Returns the findings, and whether the fans' polls stay within the limit.
pub(super) async fn measure(
    target: Target,
    schedule: ScheduleId,
    accounts: &[FanAccount],
    n_connections: usize,
    server: &OwnServer,
) -> Result<(Vec<Figure>, bool)> {
    let account = accounts.first().context("an attack needs at least one fan")?;
    let crowd = &Crowd::queue(target, schedule, accounts, n_connections).await?;
    let process = server.process.id();
    let address = server.url.trim_start_matches("http://").parse()?;
    // The first round warms up the server.
    poll(crowd).await?;
    let calm = poll(crowd).await?;
    let before_kb = resident_kb(process)?;
    let mut attack = begin(address, schedule, account);
    tokio::time::sleep(Duration::from_secs(3)).await;
    let during = poll(crowd).await?;
    let more_kb = resident_kb(process)?.saturating_sub(before_kb);
    attack.abort_all();
    let times = during.percentile_us(99.0) as f64 / calm.percentile_us(99.0).max(1) as f64;
    let n_held = usize::from(N_ADDRESSES) * (N_SILENT + N_UNREAD);
    let calm = Beside {
        what: "the same without an attack".into(),
        value: PER_SECOND_ASKED,
        times: Times::of(&calm),
    };
    let polls = Figure {
        times: Times::of(&during),
        beside: vec![calm],
        ..Figure::alone(
            format!("polls beside {n_held} hostile connections"),
            PER_SECOND_ASKED,
            PER_SECOND,
        )
    };
    let figures = vec![
        polls,
        Figure::alone("their p99 relative to that without an attack", times, "times"),
        Figure::alone("memory that the attack uses", more_kb as f64 / 1e3, "MB"),
    ];
    Ok((figures, times <= TIMES_MAX))
}

async fn poll(crowd: &Crowd) -> Result<Latencies> {
    let mut all = Latencies::default();
    for _ in 0..ROUNDS {
        let load_run = crowd.poll_at(POLLS, PER_SECOND_ASKED).await?;
        all.add_all(&load_run.latencies);
    }
    Ok(all)
}

/// Runs until it is dropped.
fn begin(server: SocketAddr, schedule: ScheduleId, account: &FanAccount) -> JoinSet<()> {
    let unread = format!(
        "GET /api/booking/seats?scheduleId={schedule} HTTP/1.1\r\nHost: podo\r\n\
         Authorization: Bearer {}\r\n\r\n",
        account.access_token
    );
    let mut attack = JoinSet::new();
    for last in 2..2 + N_ADDRESSES {
        for number in 0..N_SILENT {
            attack.spawn(fall_silent(last, server, BEGINNINGS[number % BEGINNINGS.len()]));
        }
        for _ in 0..N_UNREAD {
            attack.spawn(take_nothing(last, server, unread.clone()));
        }
    }
    attack
}

async fn connect(last: u8, server: SocketAddr) -> std::io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.bind((Ipv4Addr::new(127, 0, 0, last), 0).into())?;
    socket.connect(server).await
}

async fn fall_silent(last: u8, server: SocketAddr, beginning: &'static str) {
    loop {
        if let Ok(mut stream) = connect(last, server).await {
            // When the server closes the connection, it starts over.
            let _ = stream.write_all(beginning.as_bytes()).await;
            let _ = stream.read_to_end(&mut Vec::new()).await;
        }
        tokio::time::sleep(BACK_AFTER).await;
    }
}

async fn take_nothing(last: u8, server: SocketAddr, request: String) {
    loop {
        if let Ok(mut stream) = connect(last, server).await {
            let _ = stream.write_all(request.as_bytes()).await;
            tokio::time::sleep(UNREAD_FOR).await;
        }
        tokio::time::sleep(BACK_AFTER).await;
    }
}
