//! A poll of somebody who waits: by far the most frequent request, so it takes the shortest way.
//! Polls with anything unusual in them take the ordinary one and get the same answers.

use crate::api::error::ApiResult;
use crate::api::extract::bearer;
use crate::api::language::Language;
use crate::api::queue::localise;
use crate::api::{Shared, cookies};
use app::queue::{self, Asker, QueueView};
use domain::{Refusal, ScheduleId};

/// What a poll says, still in the buffer that it came in.
#[derive(Debug, PartialEq, Eq)]
pub struct Poll<'r> {
    pub schedule: ScheduleId,
    pub place_token: &'r str,
    pub authorization: Option<&'r str>,
    pub cookie: Option<&'r str>,
    pub accept_language: Option<&'r str>,
    pub forwarded_for: Option<&'r str>,
    pub trace_parent: Option<&'r str>,
    pub request_id: Option<&'r str>,
}

/// Where polls go.
pub const PATH: &str = "/api/queue/status";

impl Poll<'_> {
    /// The schedule in `scheduleId=<id>`, when the query is nothing else.
    pub fn schedule_in(query: &str) -> Option<ScheduleId> {
        query.strip_prefix("scheduleId=")?.parse().ok()
    }

    pub(super) async fn answer(&self, shared: &Shared) -> ApiResult<QueueView> {
        let asker = self.asker(shared)?;
        queue::check_pace(&shared.platform, self.schedule, asker.fan)?;
        let mut view = queue::status(&shared.platform, asker, self.schedule).await?;
        localise(&mut view, || Language::wished(self.accept_language));
        Ok(view)
    }

    /// The place token proves the place, so nobody is asked whether the session has ended
    /// meanwhile; a log-in beside it must be the same fan's.
    fn asker(&self, shared: &Shared) -> ApiResult<Asker> {
        let platform = &shared.platform;
        let token = match self.authorization {
            Some(given) => bearer(given),
            None => self.cookie.and_then(|text| cookies::find_in(text, cookies::ACCESS)),
        };
        let caller = match token {
            Some(token) => {
                let caller = platform.sessions.check(token, platform.now());
                Some(caller.ok_or(Refusal::LoginRequired)?)
            }
            None => None,
        };
        Ok(queue::asker(platform, self.schedule, caller, Some(self.place_token))?)
    }
}
