//! What a crowd does with seats: holds many at once, looks at the map again and again.

use super::{Crowd, Fan};
use crate::client::{Call, Credentials};
use crate::volley::{Volley, request};
use bytes::Bytes;
use domain::SeatId;
use serde_json::json;
use std::io::Result;
use std::ops::Range;

/// Seats of one pick.
const SEATS: usize = 4;

impl Crowd {
    /// These fans hold four seats each, nobody's twice: fan `n` those from `4 n` on.
    pub async fn hold_four(&self, fans: Range<usize>) -> Result<Volley> {
        let ask = |(number, fan): (usize, &Fan)| {
            let first = u32::try_from(number * SEATS).unwrap_or(u32::MAX);
            let seats: Vec<SeatId> =
                (first..).take(SEATS).map(|index| self.schedule.seat(index)).collect();
            let body = json!({ "scheduleId": self.schedule, "seatIds": seats });
            let key = format!("four-{number}");
            let credentials = Credentials {
                access: Some(&fan.access),
                place: None,
                entry: fan.entry.as_deref(),
                idempotency_key: Some(&key),
            };
            request(&self.target, &Call::post("/api/booking/seats/select", &body), credentials)
        };
        let chosen = self.fans.iter().enumerate().take(fans.end).skip(fans.start);
        self.fire(chosen.map(ask).collect()).await
    }

    /// Somebody who knows the seat map asks whether it has changed, so many times.
    pub async fn look_again(&self, n_looks: usize) -> Result<Volley> {
        let look = format!(
            "GET {}/api/schedules/{}/seats HTTP/1.1\r\nhost: {}\r\nif-none-match: *\r\n\r\n",
            self.target.prefix, self.schedule, self.target.authority
        );
        let look = Bytes::from(look);
        self.fire(std::iter::repeat_n(look, n_looks).collect()).await
    }

    /// The same for somebody who knows nothing: all seats, two bits each.
    pub async fn look(&self, n_looks: usize) -> Result<Volley> {
        let look = format!(
            "GET {}/api/schedules/{}/seats HTTP/1.1\r\nhost: {}\r\n\
             accept: application/octet-stream\r\n\r\n",
            self.target.prefix, self.schedule, self.target.authority
        );
        let look = Bytes::from(look);
        self.fire(std::iter::repeat_n(look, n_looks).collect()).await
    }
}
