//! What fans ask of the waiting room when a sale opens, nearly all at once: to enter, and then where
//! they stand. So it takes the shortest way. Whatever has anything unusual in it takes the ordinary
//! one and gets the same answers.

use crate::api::error::ApiResult;
use crate::api::extract::{bearer, check_user_limit, parse};
use crate::api::language::Language;
use crate::api::queue::{ScheduleBody, localise};
use crate::api::{Shared, cookies};
use app::accounts::authenticate;
use app::queue::{self, Asker, QueueView};
use domain::{Refusal, ScheduleId};

/// What is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    Enter,
    /// To know where they stand.
    Status,
}

impl Wish {
    pub const ALL: [Wish; 2] = [Wish::Enter, Wish::Status];

    pub const fn method(self) -> &'static str {
        match self {
            Wish::Enter => "POST",
            Wish::Status => "GET",
        }
    }

    pub const fn path(self) -> &'static str {
        match self {
            Wish::Enter => "/api/queue/enter",
            Wish::Status => "/api/queue/status",
        }
    }
}

/// What is asked, still in the buffer that it came in.
#[derive(Debug, PartialEq, Eq)]
pub struct Ask<'r> {
    pub wish: Wish,
    pub schedule: ScheduleId,
    pub place_token: Option<&'r str>,
    pub authorization: Option<&'r str>,
    pub cookie: Option<&'r str>,
    pub accept_language: Option<&'r str>,
    pub forwarded_for: Option<&'r str>,
    pub trace_parent: Option<&'r str>,
    pub request_id: Option<&'r str>,
}

/// The schedule in `scheduleId=<id>`, when the query is nothing else.
pub fn schedule_in_query(query: &str) -> Option<ScheduleId> {
    query.strip_prefix("scheduleId=")?.parse().ok()
}

pub fn schedule_in_body(body: &[u8]) -> Option<ScheduleId> {
    parse::<ScheduleBody>(body).ok().map(|body| body.schedule_id)
}

impl Ask<'_> {
    pub(super) async fn answer(&self, shared: &Shared) -> ApiResult<QueueView> {
        let platform = &shared.platform;
        let asker = match self.wish {
            Wish::Enter => self.fan(shared).await?,
            Wish::Status => self.poller(shared)?,
        };
        queue::check_pace(platform, self.schedule, asker.fan)?;
        let mut view = match self.wish {
            Wish::Enter => queue::enter(platform, asker, self.schedule, None).await?,
            Wish::Status => queue::status(platform, asker, self.schedule).await?,
        };
        localise(&mut view, || Language::wished(self.accept_language));
        Ok(view)
    }

    /// Somebody who is logged in and does not ask too much.
    async fn fan(&self, shared: &Shared) -> ApiResult<Asker> {
        let platform = &shared.platform;
        let token = self.access_token().ok_or(Refusal::LoginRequired)?;
        let caller = authenticate(platform, token, platform.now()).await?;
        check_user_limit(shared, caller.user, self.wish.path())?;
        Ok(queue::asker(platform, self.schedule, Some(caller), self.place_token)?)
    }

    /// The place token proves the place, so nobody is asked whether the session has ended
    /// meanwhile; a log-in beside it must be the same fan's.
    fn poller(&self, shared: &Shared) -> ApiResult<Asker> {
        let platform = &shared.platform;
        let place_token = self.place_token.ok_or(Refusal::LoginRequired)?;
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
        match self.authorization {
            Some(given) => bearer(given),
            None => self.cookie.and_then(|text| cookies::find_in(text, cookies::ACCESS)),
        }
    }
}
