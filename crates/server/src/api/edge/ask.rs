//! What fans ask when a sale opens, nearly all at once: to enter, where they stand, and for seats
//! that one of them gets. So it takes the shortest way. A request that has anything unusual in it takes
//! the ordinary one and gets the same answers.

use super::origin::{Page, may_act};
use crate::api::answer::status_of;
use crate::api::booking::{self, SelectBody};
use crate::api::error::{ApiError, ApiResult, write_problem};
use crate::api::extract::{Bearer, bearer, check_user_limit, parse};
use crate::api::language::Language;
use crate::api::queue::{QueueScheduleBody, check_pace, localise};
use crate::api::{RequestId, Shared, cookies};
use app::accounts::authenticate;
use app::keys::{SELECT, key_use};
use app::ports::keys::{Answer, Once};
use app::ports::reservations::Held;
use app::queue::{self, Asker, QueueView};
use app::reservations::SelectSeats;
use axum::http::StatusCode;
use domain::{Refusal, ScheduleId, SeatId};

/// What is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    Enter,
    /// To know where they stand.
    Status,
    /// To hold seats.
    Select,
}

impl Wish {
    pub const ALL: [Wish; 3] = [Wish::Enter, Wish::Status, Wish::Select];

    pub const fn method(self) -> &'static str {
        match self {
            Wish::Enter | Wish::Select => "POST",
            Wish::Status => "GET",
        }
    }

    pub const fn path(self) -> &'static str {
        match self {
            Wish::Enter => "/api/queue/enter",
            Wish::Status => "/api/queue/status",
            Wish::Select => "/api/booking/seats/select",
        }
    }
}

/// What is asked, still in the buffer that it came in.
#[derive(Debug, PartialEq, Eq)]
pub struct Ask<'r> {
    pub wish: Wish,
    pub schedule: ScheduleId,
    /// None unless seats are wanted.
    pub seats: Vec<SeatId>,
    pub body: &'r [u8],
    pub headers: Headers<'r>,
}

/// The headers that count.
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

/// The answer, and what its address has left of its limit.
pub struct Told {
    tidings: Tidings,
    n_left: Option<u32>,
}

enum Tidings {
    Place(QueueView),
    Held(Once<Held>),
    /// What most of those who want a seat are told, and whatever else goes wrong.
    Refused(ApiError, Language),
}

impl Told {
    pub(super) fn n_left(&self) -> Option<u32> {
        self.n_left
    }

    pub fn status(&self) -> StatusCode {
        match &self.tidings {
            Tidings::Place(_) => StatusCode::OK,
            Tidings::Held(Once::Fresh(_)) => status_of(Held::STATUS),
            Tidings::Held(Once::Replay(stored)) => status_of(stored.status),
            Tidings::Refused(error, _) => error.status(),
        }
    }

    /// The lines of its head that depend on what it is.
    pub fn head(&self) -> &'static str {
        match &self.tidings {
            Tidings::Place(_) | Tidings::Held(Once::Fresh(_)) => {
                "content-type: application/json\r\n"
            }
            Tidings::Held(Once::Replay(_)) => {
                "content-type: application/json\r\nidempotency-replayed: true\r\n"
            }
            Tidings::Refused(_, Language::Korean) => {
                "content-type: application/problem+json\r\ncontent-language: ko\r\n"
            }
            Tidings::Refused(_, Language::English) => {
                "content-type: application/problem+json\r\ncontent-language: en\r\n"
            }
        }
    }

    /// Seconds after which it makes sense to try again.
    pub fn retry_after(&self) -> Option<u64> {
        match &self.tidings {
            Tidings::Place(_) | Tidings::Held(_) => None,
            Tidings::Refused(error, _) => error.retry_after(),
        }
    }

    pub fn write_body(&self, to: &mut Vec<u8>, id: &RequestId) {
        match &self.tidings {
            Tidings::Place(view) => serde_json::to_writer(to, view).expect("a view becomes JSON"),
            Tidings::Held(Once::Fresh(held)) => {
                serde_json::to_writer(to, held).expect("a hold becomes JSON");
            }
            Tidings::Held(Once::Replay(stored)) => to.extend_from_slice(stored.body.as_bytes()),
            Tidings::Refused(error, language) => write_problem(to, error, *language, id.as_str()),
        }
    }
}

/// The schedule in `scheduleId=<id>`, when the query is nothing else.
pub fn schedule_in_query(query: &str) -> Option<ScheduleId> {
    query.strip_prefix("scheduleId=")?.parse().ok()
}

pub fn schedule_in_body(body: &[u8]) -> Option<ScheduleId> {
    parse::<QueueScheduleBody>(body).ok().map(|body| body.schedule_id)
}

pub fn seats_in_body(body: &[u8]) -> Option<(ScheduleId, Vec<SeatId>)> {
    parse::<SelectBody>(body).ok().map(|body| (body.schedule_id, body.seat_ids))
}

impl Ask<'_> {
    /// Whether it does not come from another site's page.
    pub(super) fn is_ours(&self, home: &str) -> bool {
        let Headers { origin, fetch_site, host, .. } = self.headers;
        self.wish == Wish::Status || may_act(&Page { origin, fetch_site, host }, home)
    }

    pub(super) async fn answer(&self, shared: &Shared, n_left: Option<u32>) -> Told {
        let tidings = match self.wish {
            Wish::Enter => self.enter(shared).await,
            Wish::Status => self.status(shared).await,
            Wish::Select => self.hold(shared).await.map(Tidings::Held),
        };
        match tidings {
            Ok(tidings) => Told { tidings, n_left },
            Err(error) => self.refuse(error, n_left),
        }
    }

    pub(super) fn refuse(&self, error: ApiError, n_left: Option<u32>) -> Told {
        Told { tidings: Tidings::Refused(error, self.language()), n_left }
    }

    async fn enter(&self, shared: &Shared) -> ApiResult<Tidings> {
        let asker = self.fan(shared).await?;
        check_pace(shared, self.schedule, asker.fan).await?;
        Ok(self.place(queue::enter(&shared.platform, asker, self.schedule, None).await?))
    }

    async fn status(&self, shared: &Shared) -> ApiResult<Tidings> {
        let asker = self.poller(shared)?;
        check_pace(shared, self.schedule, asker.fan).await?;
        Ok(self.place(queue::status(&shared.platform, asker, self.schedule).await?))
    }

    fn place(&self, mut view: QueueView) -> Tidings {
        localise(&mut view, || self.language());
        Tidings::Place(view)
    }

    async fn hold(&self, shared: &Shared) -> ApiResult<Once<Held>> {
        let token = self.access_token().ok_or(Refusal::LoginRequired)?;
        let bearer = Bearer::of(shared, token)?;
        let key = self.headers.idempotency_key;
        let asked = SelectSeats {
            key: key_use(bearer.caller.user, SELECT, key, self.body)?,
            fan: bearer.caller,
            schedule: self.schedule,
            seats: &self.seats,
            entry_token: self.headers.entry_token,
        };
        booking::hold(shared, &bearer, asked).await
    }

    /// Somebody who is logged in and does not ask too much.
    async fn fan(&self, shared: &Shared) -> ApiResult<Asker> {
        let platform = &shared.platform;
        let token = self.access_token().ok_or(Refusal::LoginRequired)?;
        let caller = authenticate(platform, token, platform.now()).await?;
        check_user_limit(shared, caller.user, self.wish.path())?;
        Ok(queue::asker(platform, self.schedule, Some(caller), self.headers.place_token)?)
    }

    /// The place token proves the place, so nobody is asked whether the session has ended
    /// meanwhile; a log-in beside it must be the same fan's.
    fn poller(&self, shared: &Shared) -> ApiResult<Asker> {
        let platform = &shared.platform;
        let place_token = self.headers.place_token.ok_or(Refusal::LoginRequired)?;
        let caller = match self.access_token() {
            Some(token) => {
                let caller = platform.sessions.check(token, platform.now());
                Some(caller.ok_or(Refusal::LoginRequired)?)
            }
            None => None,
        };
        Ok(queue::asker(platform, self.schedule, caller, Some(place_token))?)
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
