//! A crowd's seat requests: holds many at once, polls the map.

use crate::crowd::Crowd;
use crate::http::client::Call;
use crate::load_run::LoadRun;
use bytes::Bytes;
use podo_domain::SeatId;
use serde_json::json;
use std::io::Result;
use std::ops::Range;

impl Crowd {
    /// These fans hold this many seats each, all distinct: fan `n` those from `n * n_seats` on.
    pub async fn hold(&self, fans: Range<usize>, n_seats: usize) -> Result<LoadRun> {
        let ask = |number: usize| {
            let first = u32::try_from(number * n_seats).unwrap_or(u32::MAX);
            let seats: Vec<SeatId> =
                (first..).take(n_seats).map(|index| self.schedule.seat(index)).collect();
            let body = json!({ "scheduleId": self.schedule, "seatIds": seats });
            self.ask(number, "hold", &Call::post("/api/booking/seats/select", &body))
        };
        self.fire_keeping(fans.map(ask).collect()).await
    }

    /// A client with a current seat map asks for changes, this many times.
    pub async fn look_again(&self, n_looks: usize) -> Result<LoadRun> {
        let look = format!(
            "GET {}/api/schedules/{}/seats HTTP/1.1\r\nhost: {}\r\nif-none-match: *\r\n\r\n",
            self.target.prefix, self.schedule, self.target.authority
        );
        let look = Bytes::from(look);
        self.fire(std::iter::repeat_n(look, n_looks).collect()).await
    }

    /// Like `look_again`, for a client without a map: all seats, two bits each.
    pub async fn look(&self, n_looks: usize) -> Result<LoadRun> {
        let look = format!(
            "GET {}/api/schedules/{}/seats HTTP/1.1\r\nhost: {}\r\n\
             accept: application/octet-stream\r\n\r\n",
            self.target.prefix, self.schedule, self.target.authority
        );
        let look = Bytes::from(look);
        self.fire(std::iter::repeat_n(look, n_looks).collect()).await
    }
}
