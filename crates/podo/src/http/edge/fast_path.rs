//! The hot routes as the fast path serves them: nearly all requests of an opening. The handlers are
//! those of the ordinary path.

use crate::http::edge::Room;
use crate::http::edge::origin::{Page, may_act};
use crate::http::extract::{Bearer, ClientHeaders, Fan, Poller};
use crate::http::language::Language;
use crate::http::problem::{ApiError, ApiResult, headers_of, write_problem};
use crate::http::respond::answer::{EventStream, HotResponse};
use crate::routes::booking::seats::{SelectBody, select_seats};
use crate::routes::catalog::seat_stream;
use crate::routes::waiting_room::{queue, stream};
use crate::routes::{App, RequestId};
use axum::http::StatusCode;
use podo_domain::ScheduleId;
use std::net::IpAddr;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FastRoute {
    Enter,
    /// Poll the queue position.
    Status,
    /// Hold seats.
    Select,
    QueueStream,
    SeatStream,
}

impl FastRoute {
    pub(crate) const ALL: [FastRoute; 5] = [
        FastRoute::Enter,
        FastRoute::Status,
        FastRoute::Select,
        FastRoute::QueueStream,
        FastRoute::SeatStream,
    ];

    pub(crate) const fn method(self) -> &'static str {
        match self {
            FastRoute::Enter | FastRoute::Select => "POST",
            FastRoute::Status | FastRoute::QueueStream | FastRoute::SeatStream => "GET",
        }
    }

    pub(crate) const fn template(self) -> &'static str {
        match self {
            FastRoute::Enter => "/api/queue/enter",
            FastRoute::Status => "/api/queue/status",
            FastRoute::Select => "/api/booking/seats/select",
            FastRoute::QueueStream => "/api/queue/stream",
            FastRoute::SeatStream => "/api/schedules/{id}/seats/stream",
        }
    }
}

/// A route with what its handler needs of the path, the query or the body.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Call<'r> {
    Enter(ScheduleId),
    Status(ScheduleId),
    /// The body and its bytes.
    Select(SelectBody, &'r [u8]),
    QueueStream(ScheduleId),
    SeatStream(ScheduleId),
}

/// A parsed request that borrows from its read buffer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FastRequest<'r> {
    pub(crate) call: Call<'r>,
    pub(crate) client: ClientHeaders<'r>,
    pub(crate) edge: EdgeHeaders<'r>,
}

/// The headers that the edge reads.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct EdgeHeaders<'r> {
    pub(crate) host: Option<&'r str>,
    pub(crate) origin: Option<&'r str>,
    pub(crate) fetch_site: Option<&'r str>,
    pub(crate) forwarded_for: Option<&'r str>,
    pub(crate) forwarded: Option<&'r str>,
    pub(crate) trace_parent: Option<&'r str>,
    pub(crate) request_id: Option<&'r str>,
}

/// A response, and what remains of the address's rate limit.
pub(crate) struct FastResponse {
    pub(crate) answer: Result<HotResponse, ApiError>,
    pub(crate) n_left: Option<u32>,
    pub(crate) language: Language,
    pub(crate) id: RequestId,
    /// The budget of unsent bytes that a stream holds.
    pub(crate) room: Option<Room>,
}

impl FastResponse {
    pub(crate) fn status(&self) -> StatusCode {
        self.answer.as_ref().map_or_else(ApiError::status, HotResponse::status)
    }

    /// The headers that depend on the answer.
    pub(crate) fn headers(&self) -> &'static [(&'static str, &'static str)] {
        match &self.answer {
            Ok(answer) => answer.headers(),
            Err(_) => headers_of(self.language),
        }
    }

    /// The value of `Retry-After`, in seconds.
    pub(crate) fn retry_after(&self) -> Option<u64> {
        self.answer.as_ref().err().and_then(ApiError::retry_after)
    }

    pub(crate) fn is_stream(&self) -> bool {
        matches!(self.answer, Ok(HotResponse::Events(_)))
    }

    /// The events of a stream, with its budget of unsent bytes.
    pub(crate) fn into_stream(self) -> Option<(EventStream, Option<Room>)> {
        match self.answer {
            Ok(HotResponse::Events(events)) => Some((events, self.room)),
            Ok(HotResponse::Place(_) | HotResponse::Held(_)) | Err(_) => None,
        }
    }

    pub(crate) fn write_body(&self, to: &mut Vec<u8>) {
        match &self.answer {
            Ok(answer) => answer.write_body(to),
            Err(error) => write_problem(to, error, self.language, self.id.as_str()),
        }
    }
}

impl FastRequest<'_> {
    pub(crate) fn fast_route(&self) -> FastRoute {
        match self.call {
            Call::Enter(_) => FastRoute::Enter,
            Call::Status(_) => FastRoute::Status,
            Call::Select(..) => FastRoute::Select,
            Call::QueueStream(_) => FastRoute::QueueStream,
            Call::SeatStream(_) => FastRoute::SeatStream,
        }
    }

    /// Whether the request doesn't come from another site's page.
    pub(crate) fn is_ours(&self, home: &str) -> bool {
        let EdgeHeaders { origin, fetch_site, host, .. } = self.edge;
        self.fast_route().method() == "GET" || may_act(&Page { origin, fetch_site, host }, home)
    }

    /// Calls the handler.
    pub(crate) async fn answer(&self, app: &App, network: IpAddr) -> ApiResult<HotResponse> {
        let (client, route) = (&self.client, self.fast_route().template());
        match &self.call {
            Call::Enter(schedule) => {
                let fan = Fan::of(app, client.access_token, route).await?;
                queue::enter_queue(app, fan, *schedule, None, client).await.map(HotResponse::Place)
            }
            Call::Status(schedule) => {
                let poller = Poller::of(app, client, route).await?;
                queue::poll(app, poller, *schedule, client).await.map(HotResponse::Place)
            }
            Call::Select(body, bytes) => {
                let bearer = Bearer::of(app, client.access_token)?;
                select_seats(app, &bearer, body, bytes, client).await.map(HotResponse::Held)
            }
            // Opening a stream is rare; boxing keeps the future of every connection small.
            Call::QueueStream(schedule) => {
                let open = async {
                    let poller = Poller::of(app, client, route).await?;
                    stream::listen(app, poller, *schedule, client, network).await
                };
                let events = Box::pin(open).await?;
                Ok(HotResponse::Events(EventStream::Queue(Box::new(events))))
            }
            Call::SeatStream(schedule) => {
                let open = seat_stream::listen(app, *schedule, network, client);
                let events = Box::pin(open).await?;
                Ok(HotResponse::Events(EventStream::Seats(Box::new(events))))
            }
        }
    }
}
