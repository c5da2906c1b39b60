//! A crowd that has queued, and what all of it can be made to ask at once.

mod open;
mod purchases;
mod seats;

pub use open::{OpenConnections, Stay};
pub use purchases::ReadyToPay;

use crate::client::{Call, Credentials};
use crate::volley::{Bodies, Pace, Volley, fire, request};
use crate::wire::Place;
use crate::{FanAccount, Target};
use bytes::Bytes;
use domain::{ScheduleId, SeatId};
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
    entering: Volley,
}

struct Fan {
    access: String,
    place: Option<String>,
    entry: Option<String>,
}

impl Crowd {
    /// Everybody enters the queue.
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
        let fans = accounts.iter().zip(read_all::<Place>(&entered)?).map(|(account, place)| {
            let access = account.access_token.clone();
            Fan { access, place: place.token, entry: place.entry_token }
        });
        let fans = fans.collect();
        let entering = Volley { bodies: Vec::new(), ..entered };
        Ok(Crowd { target, schedule, n_connections, fans, entering })
    }

    /// How entering went.
    pub fn entering(&self) -> &Volley {
        &self.entering
    }

    /// Others who came later join.
    pub fn join(&mut self, others: Crowd) {
        self.fans.extend(others.fans);
    }

    pub fn n_waiting(&self) -> usize {
        self.fans.len() - self.n_inside()
    }

    pub fn n_inside(&self) -> usize {
        self.fans.iter().filter(|fan| fan.entry.is_some()).count()
    }

    /// Those who wait ask where they stand, so many times in all: everybody in turn, or some from the
    /// whole length of the line.
    pub async fn poll(&self, n_polls: usize) -> Result<Volley> {
        self.fire(self.polls(n_polls)).await
    }

    /// The same at a given rate, whether the server keeps up or not.
    pub async fn poll_at(&self, n_polls: usize, per_second: f64) -> Result<Volley> {
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

    /// Everybody inside wants this one seat.
    pub async fn want(&self, seat: SeatId) -> Result<Volley> {
        let body = json!({ "scheduleId": self.schedule, "seatIds": [seat] });
        let call = Call::post("/api/booking/seats/select", &body);
        let what = format!("want-{}", seat.index());
        self.fire((0..self.fans.len()).map(|fan| self.ask(fan, &what, &call)).collect()).await
    }

    /// A call of the fan with this number; `what` and the number are its idempotency key.
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

    async fn fire_keeping(&self, requests: Arc<[Bytes]>) -> Result<Volley> {
        fire(&self.target, requests, self.n_connections, Bodies::Kept, Pace::AsAnswered).await
    }

    async fn fire(&self, requests: Arc<[Bytes]>) -> Result<Volley> {
        fire(&self.target, requests, self.n_connections, Bodies::Dropped, Pace::AsAnswered).await
    }
}

/// Every answer's body as what it should be.
fn read_all<T: DeserializeOwned>(volley: &Volley) -> Result<Vec<T>> {
    let read = |body: &Bytes| {
        serde_json::from_slice(body)
            .map_err(|error| Error::other(format!("{error} in {}", String::from_utf8_lossy(body))))
    };
    volley.bodies.iter().map(read).collect()
}

/// As many requests to any server, with nothing in them.
pub async fn greet(target: &Target, n_requests: usize, n_connections: usize) -> Result<Volley> {
    fire(target, greetings(target, n_requests), n_connections, Bodies::Dropped, Pace::AsAnswered)
        .await
}

/// The same at a given rate, whether the server keeps up or not.
pub async fn greet_at(
    target: &Target,
    n_requests: usize,
    n_connections: usize,
    per_second: f64,
) -> Result<Volley> {
    let pace = Pace::PerSecond(per_second);
    fire(target, greetings(target, n_requests), n_connections, Bodies::Dropped, pace).await
}

fn greetings(target: &Target, n_requests: usize) -> Arc<[Bytes]> {
    let hello = request(target, &Call::get("/"), Credentials::default());
    std::iter::repeat_n(hello, n_requests).collect()
}
