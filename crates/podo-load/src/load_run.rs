//! Prebuilt requests over keep-alive connections, for comparing servers: sent as fast as they are
//! answered, or at a given rate. The generator itself does as little as possible.

pub(crate) mod commits;
mod hello;

pub use hello::Hello;

use crate::fan::source_address;
use crate::http::client::{Call, Credentials};
use crate::{Latencies, Target};
use bytes::{Bytes, BytesMut};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::io::{Error, ErrorKind, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

/// The results of a run.
#[derive(Clone, Debug, Default)]
pub struct LoadRun {
    pub elapsed: Duration,
    pub statuses: BTreeMap<u16, u64>,
    pub latencies: Latencies,
    /// The bodies in the order of the requests, if they were kept.
    pub bodies: Vec<Bytes>,
}

impl LoadRun {
    pub fn per_second(&self) -> f64 {
        self.statuses.values().sum::<u64>() as f64 / self.elapsed.as_secs_f64()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bodies {
    Kept,
    Dropped,
}

/// When requests are sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Pace {
    /// Each connection sends its next request once it has an answer (closed loop).
    AsAnswered,
    /// This many per second in all, whether or not the server keeps up (open loop). A request that
    /// is sent late, because the previous answer was late, is timed from the moment at which it was
    /// due.
    PerSecond(f64),
}

impl Pace {
    fn due(self, started: Instant, index: usize) -> Option<Instant> {
        match self {
            Pace::AsAnswered => None,
            Pace::PerSecond(rate) => {
                Some(started + Duration::from_secs_f64(index as f64 / rate.max(1.0)))
            }
        }
    }
}

/// Sends all requests over this many connections, each from its own source address and with one
/// request in flight.
pub(crate) async fn fire(
    target: &Target,
    requests: Arc<[Bytes]>,
    n_connections: usize,
    bodies: Bodies,
    pace: Pace,
) -> Result<LoadRun> {
    let mut connections = Vec::with_capacity(n_connections);
    let server = source_address::find(target).await?;
    for number in 0..n_connections {
        let stream = source_address::connect(server, number).await?;
        connections.push(Connection { stream, buffer: BytesMut::with_capacity(16_384) });
    }
    let next = Arc::new(AtomicUsize::new(0));
    let started = Instant::now();
    let mut firing = JoinSet::new();
    for connection in connections {
        let shots = Shots { requests: requests.clone(), next: next.clone(), started, pace };
        firing.spawn(fire_on(connection, shots, bodies));
    }
    let mut answered = Vec::with_capacity(requests.len());
    while let Some(done) = firing.join_next().await {
        answered.extend(done.map_err(Error::other)??);
    }
    let mut load_run = LoadRun { elapsed: started.elapsed(), ..LoadRun::default() };
    answered.sort_unstable_by_key(|answer| answer.index);
    for answer in answered {
        *load_run.statuses.entry(answer.status).or_default() += 1;
        load_run.latencies.add(answer.took);
        load_run.bodies.extend(answer.body);
    }
    Ok(load_run)
}

/// The requests left to send, shared by all connections.
struct Shots {
    requests: Arc<[Bytes]>,
    next: Arc<AtomicUsize>,
    started: Instant,
    pace: Pace,
}

struct Answered {
    index: usize,
    status: u16,
    took: Duration,
    body: Option<Bytes>,
}

async fn fire_on(
    mut connection: Connection,
    shots: Shots,
    bodies: Bodies,
) -> Result<Vec<Answered>> {
    let mut answered = Vec::new();
    loop {
        let index = shots.next.fetch_add(1, Ordering::Relaxed);
        let Some(request) = shots.requests.get(index) else { return Ok(answered) };
        let since = match shots.pace.due(shots.started, index) {
            Some(due) => {
                tokio::time::sleep_until(due.into()).await;
                due
            }
            None => Instant::now(),
        };
        connection.stream.write_all(request).await?;
        let (status, body) = connection.read_answer().await?;
        let body = (bodies == Bodies::Kept).then_some(body);
        answered.push(Answered { index, status, took: since.elapsed(), body });
    }
}

struct Connection {
    stream: TcpStream,
    buffer: BytesMut,
}

impl Connection {
    async fn read_answer(&mut self) -> Result<(u16, Bytes)> {
        loop {
            if let Some((status, head, length)) = read_head(&self.buffer)? {
                while self.buffer.len() < head + length {
                    self.read_more().await?;
                }
                let answer = self.buffer.split_to(head + length).freeze();
                return Ok((status, answer.slice(head..)));
            }
            self.read_more().await?;
        }
    }

    async fn read_more(&mut self) -> Result<()> {
        match self.stream.read_buf(&mut self.buffer).await? {
            0 => Err(ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }
}

/// The status and the lengths of head and body, once the head is complete.
fn read_head(bytes: &[u8]) -> Result<Option<(u16, usize, usize)>> {
    const END: &[u8] = b"\r\n\r\n";
    let Some(at) = bytes.windows(END.len()).position(|it| it == END) else { return Ok(None) };
    let bad = || Error::new(ErrorKind::InvalidData, "not an answer with a length");
    let head = str::from_utf8(&bytes[..at]).map_err(|_not_text| bad())?;
    let mut lines = head.split("\r\n");
    let status = lines.next().and_then(|line| line.split(' ').nth(1));
    let status: u16 = status.and_then(|it| it.parse().ok()).ok_or_else(bad)?;
    let has_no_body = status == 204 || status == 304;
    let length = lines.find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
    });
    let length = if has_no_body { Some(0) } else { length };
    Ok(Some((status, at + END.len(), length.ok_or_else(bad)?)))
}

/// The bytes of one request.
pub(crate) fn request(target: &Target, call: &Call, credentials: Credentials<'_>) -> Bytes {
    let mut head = format!(
        "{} {}{} HTTP/1.1\r\nhost: {}\r\n",
        call.method, target.prefix, call.path, target.authority
    );
    for (name, value) in credentials.headers() {
        let _ = write!(head, "{name}: {value}\r\n");
    }
    if !call.body.is_empty() {
        let _ = write!(head, "content-type: application/json\r\n");
    }
    let _ = write!(head, "content-length: {}\r\n\r\n", call.body.len());
    [head.as_bytes(), &call.body].concat().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_when_its_head_is_complete() {
        let whole = b"HTTP/1.1 409 Conflict\r\nContent-Length: 5\r\n\r\nhello";
        assert_eq!(read_head(&whole[..30]).unwrap(), None);
        assert_eq!(read_head(whole).unwrap(), Some((409, whole.len() - 5, 5)));
        assert_eq!(read_head(b"HTTP/1.1 304 Not Modified\r\n\r\n").unwrap().unwrap().2, 0);
        assert!(read_head(b"HTTP/1.1 200 OK\r\n\r\n").is_err());
    }

    #[tokio::test]
    async fn every_request_is_answered_once() {
        let hello = Hello::start(7).unwrap();
        let target = Target::at(&hello.url()).unwrap();
        let call = request(&target, &Call::get("/"), Credentials::default());
        let requests: Arc<[Bytes]> = std::iter::repeat_n(call, 100).collect();
        let load_run = fire(&target, requests, 8, Bodies::Kept, Pace::AsAnswered).await.unwrap();
        assert_eq!(load_run.statuses, BTreeMap::from([(200, 100)]));
        assert_eq!(load_run.latencies.count(), 100);
        assert!(load_run.bodies.iter().all(|body| body.len() == 7));
    }

    /// A late answer on one connection delays all that follow, and each of them counts the delay.
    #[tokio::test]
    async fn what_is_sent_late_counts_from_when_it_was_due() {
        let hello = Hello::start(7).unwrap();
        let target = Target::at(&hello.url()).unwrap();
        let call = request(&target, &Call::get("/"), Credentials::default());
        let requests: Arc<[Bytes]> = std::iter::repeat_n(call, 20).collect();
        let load_run = fire(&target, requests, 1, Bodies::Dropped, Pace::PerSecond(100.0)).await;
        let load_run = load_run.unwrap();
        assert!(load_run.elapsed >= Duration::from_millis(190), "the run keeps to the given rate");
        let started = Instant::now() - Duration::from_secs(1);
        let due = Pace::PerSecond(10.0).due(started, 5).unwrap();
        assert_eq!(due, started + Duration::from_millis(500));
    }
}
