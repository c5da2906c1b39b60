//! Prebuilt requests over keep-alive connections, for comparing servers: sent as fast as they are
//! answered, or at a given rate. The generator itself does as little as possible.

pub(crate) mod commits;
mod hello;

pub use hello::Hello;

use crate::fan::source_address;
use crate::http::connection::{Connection, HttpResponse};
use crate::{Latencies, Target};
use bytes::Bytes;
use std::collections::BTreeMap;
use std::io::{Error, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
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

/// Sends all requests over this many connections, each with one request in flight, and from its own
/// source address unless the target says otherwise.
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
        let address = if target.is_one_address { 0 } else { number };
        connections.push(Connection::over(source_address::connect(server, address).await?));
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
        let HttpResponse { status, body } = connection.exchange(request).await?;
        let body = (bodies == Bodies::Kept).then_some(body);
        answered.push(Answered { index, status, took: since.elapsed(), body });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::client::{Call, Credentials};
    use crate::http::connection::request;

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
