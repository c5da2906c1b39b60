//! What a hot route answers. Each transport renders it: hyper as a response, the fast path as bytes.

use crate::http::respond::events;
use crate::http::respond::idempotent::{REPLAYED, status_of};
use crate::routes::catalog::seat_stream::SeatEvents;
use crate::routes::waiting_room::stream::QueueEvents;
use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use podo_app::booking::port::reservations::Held;
use podo_app::operations::port::idempotency::{Idempotent, IdempotentAnswer};
use podo_app::waiting_room::QueueView;

pub(crate) enum HotResponse {
    Place(QueueView),
    Held(Idempotent<Held>),
    Events(EventStream),
}

/// An open stream. Boxed, because most answers are small.
pub(crate) enum EventStream {
    Queue(Box<QueueEvents>),
    Seats(Box<SeatEvents>),
}

const JSON: (&str, &str) = ("content-type", "application/json");

impl HotResponse {
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            HotResponse::Place(_) | HotResponse::Events(_) => StatusCode::OK,
            HotResponse::Held(Idempotent::Fresh(_)) => status_of(Held::STATUS),
            HotResponse::Held(Idempotent::Replay(stored)) => status_of(stored.status),
        }
    }

    pub(crate) fn headers(&self) -> &'static [(&'static str, &'static str)] {
        match self {
            HotResponse::Place(_) | HotResponse::Held(Idempotent::Fresh(_)) => &[JSON],
            HotResponse::Held(Idempotent::Replay(_)) => &[JSON, REPLAYED],
            HotResponse::Events(_) => &events::HEADERS,
        }
    }

    /// Writes the body of an answer that isn't a stream.
    pub(crate) fn write_body(&self, to: &mut Vec<u8>) {
        match self {
            HotResponse::Place(view) => {
                serde_json::to_writer(to, view).expect("the view serializes as JSON");
            }
            HotResponse::Held(Idempotent::Fresh(held)) => {
                serde_json::to_writer(to, held).expect("the hold serializes as JSON");
            }
            HotResponse::Held(Idempotent::Replay(stored)) => {
                to.extend_from_slice(stored.body.as_bytes());
            }
            HotResponse::Events(_) => {}
        }
    }
}

impl IntoResponse for HotResponse {
    fn into_response(self) -> Response {
        let mut response = Response::default();
        *response.status_mut() = self.status();
        for (name, value) in self.headers() {
            let (name, value) = (HeaderName::from_static(name), HeaderValue::from_static(value));
            response.headers_mut().insert(name, value);
        }
        *response.body_mut() = match self {
            HotResponse::Events(EventStream::Queue(it)) => Body::from_stream(events::pieces(*it)),
            HotResponse::Events(EventStream::Seats(it)) => Body::from_stream(events::pieces(*it)),
            HotResponse::Place(_) | HotResponse::Held(_) => {
                let mut body = Vec::with_capacity(512);
                self.write_body(&mut body);
                body.into()
            }
        };
        response
    }
}
