//! The requests that nearly all fans send when a sale opens: enter, poll, and select seats that one
//! of them gets. They bypass hyper. Any unusual request takes the ordinary path and gets the same
//! response.

use crate::http::edge::origin::{Page, may_act};
use crate::http::extract::{Bearer, bearer, check_user_limit, parse};
use crate::http::language::Language;
use crate::http::problem::{ApiError, ApiResult, write_problem};
use crate::http::respond::cookies;
use crate::http::respond::idempotent::status_of;
use crate::routes::booking::seats;
use crate::routes::booking::seats::SelectBody;
use crate::routes::waiting_room::queue::{QueueScheduleBody, check_pace, localise};
use crate::routes::{AppState, RequestId};
use axum::http::StatusCode;
use podo_app::booking::port::reservations::Held;
use podo_app::booking::reservations::SelectSeats;
use podo_app::identity::accounts::authenticate;
use podo_app::operations::idempotency::{SELECT, idempotency_key};
use podo_app::operations::port::idempotency::{Answer, Idempotent};
use podo_app::waiting_room;
use podo_app::waiting_room::{Asker, QueueView};
use podo_domain::{Refusal, ScheduleId, SeatId};

/// The route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FastRoute {
    Enter,
    /// Poll the queue position.
    Status,
    /// To hold seats.
    Select,
}

impl FastRoute {
    pub const ALL: [FastRoute; 3] = [FastRoute::Enter, FastRoute::Status, FastRoute::Select];

    pub const fn method(self) -> &'static str {
        match self {
            FastRoute::Enter | FastRoute::Select => "POST",
            FastRoute::Status => "GET",
        }
    }

    pub const fn path(self) -> &'static str {
        match self {
            FastRoute::Enter => "/api/queue/enter",
            FastRoute::Status => "/api/queue/status",
            FastRoute::Select => "/api/booking/seats/select",
        }
    }
}

/// A parsed request that borrows from its read buffer.
#[derive(Debug, PartialEq, Eq)]
pub struct FastRequest<'r> {
    pub route: FastRoute,
    pub schedule: ScheduleId,
    /// Empty unless the route is `Select`.
    pub seats: Vec<SeatId>,
    pub body: &'r [u8],
    pub headers: Headers<'r>,
}

/// The relevant headers.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Headers<'r> {
    pub host: Option<&'r str>,
    pub authorization: Option<&'r str>,
    pub cookie: Option<&'r str>,
    pub origin: Option<&'r str>,
    pub fetch_site: Option<&'r str>,
    pub place_token: Option<&'r str>,
    pub entry_token: Option<&'r str>,
    pub idempotency_key: Option<&'r str>,
    pub accept_language: Option<&'r str>,
    pub forwarded_for: Option<&'r str>,
    pub forwarded: Option<&'r str>,
    pub trace_parent: Option<&'r str>,
    pub request_id: Option<&'r str>,
    pub content_type: Option<&'r str>,
    pub content_length: Option<&'r str>,
}

/// A response, and what remains of the address's rate limit.
pub struct FastResponse {
    body: FastBody,
    n_left: Option<u32>,
}

enum FastBody {
    Place(QueueView),
    Held(Idempotent<Held>),
    /// A problem; most select requests end here.
    Refused(ApiError, Language),
}

impl FastResponse {
    pub(crate) fn n_left(&self) -> Option<u32> {
        self.n_left
    }

    pub fn status(&self) -> StatusCode {
        match &self.body {
            FastBody::Place(_) => StatusCode::OK,
            FastBody::Held(Idempotent::Fresh(_)) => status_of(Held::STATUS),
            FastBody::Held(Idempotent::Replay(stored)) => status_of(stored.status),
            FastBody::Refused(error, _) => error.status(),
        }
    }

    /// The header lines that depend on the body.
    pub fn head(&self) -> &'static str {
        match &self.body {
            FastBody::Place(_) | FastBody::Held(Idempotent::Fresh(_)) => {
                "content-type: application/json\r\n"
            }
            FastBody::Held(Idempotent::Replay(_)) => {
                "content-type: application/json\r\nidempotency-replayed: true\r\n"
            }
            FastBody::Refused(_, Language::Korean) => {
                "content-type: application/problem+json\r\ncontent-language: ko\r\n"
            }
            FastBody::Refused(_, Language::English) => {
                "content-type: application/problem+json\r\ncontent-language: en\r\n"
            }
        }
    }

    /// The value of `Retry-After`, in seconds.
    pub fn retry_after(&self) -> Option<u64> {
        match &self.body {
            FastBody::Place(_) | FastBody::Held(_) => None,
            FastBody::Refused(error, _) => error.retry_after(),
        }
    }

    pub fn write_body(&self, to: &mut Vec<u8>, id: &RequestId) {
        match &self.body {
            FastBody::Place(view) => {
                serde_json::to_writer(to, view).expect("the view serializes as JSON");
            }
            FastBody::Held(Idempotent::Fresh(held)) => {
                serde_json::to_writer(to, held).expect("the hold serializes as JSON");
            }
            FastBody::Held(Idempotent::Replay(stored)) => {
                to.extend_from_slice(stored.body.as_bytes());
            }
            FastBody::Refused(error, language) => write_problem(to, error, *language, id.as_str()),
        }
    }
}

/// The schedule, if the query is exactly `scheduleId=<id>`.
pub fn schedule_in_query(query: &str) -> Option<ScheduleId> {
    query.strip_prefix("scheduleId=")?.parse().ok()
}

pub fn schedule_in_body(body: &[u8]) -> Option<ScheduleId> {
    parse::<QueueScheduleBody>(body).ok().map(|body| body.schedule_id)
}

pub fn seats_in_body(body: &[u8]) -> Option<(ScheduleId, Vec<SeatId>)> {
    parse::<SelectBody>(body).ok().map(|body| (body.schedule_id, body.seat_ids))
}

impl FastRequest<'_> {
    /// Whether the request doesn't come from another site's page.
    pub(crate) fn is_ours(&self, home: &str) -> bool {
        let Headers { origin, fetch_site, host, .. } = self.headers;
        self.route == FastRoute::Status || may_act(&Page { origin, fetch_site, host }, home)
    }

    pub(crate) async fn answer(&self, state: &AppState, n_left: Option<u32>) -> FastResponse {
        let body = match self.route {
            FastRoute::Enter => self.enter(state).await,
            FastRoute::Status => self.status(state).await,
            FastRoute::Select => self.hold(state).await.map(FastBody::Held),
        };
        match body {
            Ok(body) => FastResponse { body, n_left },
            Err(error) => self.refuse(error, n_left),
        }
    }

    pub(crate) fn refuse(&self, error: ApiError, n_left: Option<u32>) -> FastResponse {
        FastResponse { body: FastBody::Refused(error, self.language()), n_left }
    }

    async fn enter(&self, state: &AppState) -> ApiResult<FastBody> {
        let asker = self.fan(state).await?;
        check_pace(state, self.schedule, asker.fan).await?;
        Ok(self.place(waiting_room::enter(&state.context, asker, self.schedule, None).await?))
    }

    async fn status(&self, state: &AppState) -> ApiResult<FastBody> {
        let asker = self.poller(state)?;
        check_pace(state, self.schedule, asker.fan).await?;
        Ok(self.place(waiting_room::status(&state.context, asker, self.schedule).await?))
    }

    fn place(&self, mut view: QueueView) -> FastBody {
        localise(&mut view, || self.language());
        FastBody::Place(view)
    }

    async fn hold(&self, state: &AppState) -> ApiResult<Idempotent<Held>> {
        let token = self.access_token().ok_or(Refusal::LoginRequired)?;
        let bearer = Bearer::of(state, token)?;
        let key = self.headers.idempotency_key;
        let asked = SelectSeats {
            key: idempotency_key(bearer.caller.user, SELECT, key, self.body)?,
            fan: bearer.caller,
            schedule: self.schedule,
            seats: &self.seats,
            entry_token: self.headers.entry_token,
        };
        seats::hold(state, &bearer, asked).await
    }

    /// A logged-in fan within the rate limit.
    async fn fan(&self, state: &AppState) -> ApiResult<Asker> {
        let context = &state.context;
        let token = self.access_token().ok_or(Refusal::LoginRequired)?;
        let caller = authenticate(context, token, context.now()).await?;
        check_user_limit(state, caller.user, self.route.path())?;
        Ok(waiting_room::asker(context, self.schedule, Some(caller), self.headers.place_token)?)
    }

    /// The place token proves the place, so a poll doesn't check whether the session has ended; an
    /// access token beside it must belong to the same fan.
    fn poller(&self, state: &AppState) -> ApiResult<Asker> {
        let context = &state.context;
        let place_token = self.headers.place_token.ok_or(Refusal::LoginRequired)?;
        let caller = match self.access_token() {
            Some(token) => {
                let caller = context.identity.sessions.check(token, context.now());
                Some(caller.ok_or(Refusal::LoginRequired)?)
            }
            None => None,
        };
        Ok(waiting_room::asker(context, self.schedule, caller, Some(place_token))?)
    }

    fn access_token(&self) -> Option<&str> {
        match self.headers.authorization {
            Some(given) => bearer(given),
            None => self.headers.cookie.and_then(|text| cookies::find_in(text, cookies::ACCESS)),
        }
    }

    fn language(&self) -> Language {
        Language::wished(self.headers.accept_language)
    }
}
