//! A crowd that has queued, and the requests that all of it can send at once.

mod gates;
mod open;
mod purchases;
mod seats;
mod upload;

pub use gates::{GateCall, call_from_gates};
pub use open::{OpenConnections, Stay};
pub use purchases::ReadyToPay;
pub use upload::upload_members;

use crate::http::answers::QueueStatus;
use crate::http::client::{Call, Credentials};
use crate::http::connection::request;
use crate::load_run::{Bodies, LoadRun, Pace, fire};
use crate::{FanAccount, Target};
use bytes::Bytes;
use podo_domain::{ScheduleId, SeatId};
use serde::de::DeserializeOwned;
use serde_json::json;
use std::io::{Error, Result};
use std::sync::Arc;

/// Fans with their tokens, in the order of their accounts.
pub struct Crowd {
    target: Target,
    schedule: ScheduleId,
    n_connections: usize,
    fans: Vec<Fan>,
    entering: LoadRun,
}

struct Fan {
    access: String,
    place: Option<String>,
    entry: Option<String>,
}

impl Crowd {
    /// Every fan enters the queue.
    pub async fn queue(
        target: Target,
        schedule: ScheduleId,
        accounts: &[FanAccount],
        n_connections: usize,
    ) -> Result<Crowd> {
        let call = Call::post("/api/queue/enter", &json!({ "scheduleId": schedule }));
        let enter = |account: &FanAccount| {
            let access = Some(account.access_token.as_str());
            request(&target, &call, Credentials { access, ..Credentials::default() })
        };
        let requests: Arc<[Bytes]> = accounts.iter().map(enter).collect();
        let entered =
            fire(&target, requests, n_connections, Bodies::Kept, Pace::AsAnswered).await?;
        let fans =
            accounts.iter().zip(read_all::<QueueStatus>(&entered)?).map(|(account, place)| {
                let access = account.access_token.clone();
                Fan { access, place: place.token, entry: place.entry_token }
            });
        let fans = fans.collect();
        let entering = LoadRun { bodies: Vec::new(), ..entered };
        Ok(Crowd { target, schedule, n_connections, fans, entering })
    }

    /// The results of entering.
    pub fn entering(&self) -> &LoadRun {
        &self.entering
    }

    /// Adds fans who came later.
    pub fn join(&mut self, others: Crowd) {
        self.fans.extend(others.fans);
    }

    pub fn n_waiting(&self) -> usize {
        self.fans.len() - self.n_inside()
    }

    pub fn n_inside(&self) -> usize {
        self.fans.iter().filter(|fan| fan.entry.is_some()).count()
    }

    /// Waiting fans poll this many times in all: everyone in turn, or a sample from the whole
    /// length of the line.
    pub async fn poll(&self, n_polls: usize) -> Result<LoadRun> {
        self.fire(self.polls(n_polls)).await
    }

    /// Like `poll`, at a given rate, whether or not the server keeps up.
    pub async fn poll_at(&self, n_polls: usize, per_second: f64) -> Result<LoadRun> {
        let (requests, pace) = (self.polls(n_polls), Pace::PerSecond(per_second));
        fire(&self.target, requests, self.n_connections, Bodies::Dropped, pace).await
    }

    fn polls(&self, n_polls: usize) -> Arc<[Bytes]> {
        let call = Call::get(format!("/api/queue/status?scheduleId={}", self.schedule));
        let waiting = self.fans.iter().filter(|fan| fan.entry.is_none());
        let ask = |fan: &Fan| {
            let place = fan.place.as_deref();
            request(&self.target, &call, Credentials { place, ..Credentials::default() })
        };
        let n_skipped = self.fans.len() / n_polls.max(1);
        let each: Vec<Bytes> = waiting.step_by(n_skipped + 1).map(ask).collect();
        each.into_iter().cycle().take(n_polls).collect()
    }

    /// Every admitted fan selects this one seat.
    pub async fn want(&self, seat: SeatId) -> Result<LoadRun> {
        let body = json!({ "scheduleId": self.schedule, "seatIds": [seat] });
        let call = Call::post("/api/booking/seats/select", &body);
        let what = format!("want-{}", seat.index());
        self.fire((0..self.fans.len()).map(|fan| self.ask(fan, &what, &call)).collect()).await
    }

    /// A request of the fan with this number; `what` and the number form its idempotency key.
    fn ask(&self, number: usize, what: &str, call: &Call) -> Bytes {
        let fan = &self.fans[number];
        let key = format!("{what}-{number}-{}", self.schedule);
        let credentials = Credentials {
            access: Some(&fan.access),
            place: None,
            entry: fan.entry.as_deref(),
            idempotency_key: Some(&key),
        };
        request(&self.target, call, credentials)
    }

    async fn fire_keeping(&self, requests: Arc<[Bytes]>) -> Result<LoadRun> {
        fire(&self.target, requests, self.n_connections, Bodies::Kept, Pace::AsAnswered).await
    }

    async fn fire(&self, requests: Arc<[Bytes]>) -> Result<LoadRun> {
        fire(&self.target, requests, self.n_connections, Bodies::Dropped, Pace::AsAnswered).await
    }
}

/// Parses every answer's body.
fn read_all<T: DeserializeOwned>(load_run: &LoadRun) -> Result<Vec<T>> {
    let read = |body: &Bytes| {
        serde_json::from_slice(body)
            .map_err(|error| Error::other(format!("{error} in {}", String::from_utf8_lossy(body))))
    };
    load_run.bodies.iter().map(read).collect()
}

/// Sends this many empty requests to any server.
pub async fn greet(target: &Target, n_requests: usize, n_connections: usize) -> Result<LoadRun> {
    fire(target, greetings(target, n_requests), n_connections, Bodies::Dropped, Pace::AsAnswered)
        .await
}

/// Like `greet`, at a given rate, whether or not the server keeps up.
pub async fn greet_at(
    target: &Target,
    n_requests: usize,
    n_connections: usize,
    per_second: f64,
) -> Result<LoadRun> {
    let pace = Pace::PerSecond(per_second);
    fire(target, greetings(target, n_requests), n_connections, Bodies::Dropped, pace).await
}

fn greetings(target: &Target, n_requests: usize) -> Arc<[Bytes]> {
    let hello = request(target, &Call::get("/"), Credentials::default());
    std::iter::repeat_n(hello, n_requests).collect()
}
