//! Invariants for organisers: what the last check found, and which sales it stopped.

use crate::http::extract::permissions::{Operate, ViewOperations};
use crate::http::extract::scope::OfSchedule;
use crate::http::extract::{Allowed, Audited, Id, guarded};
use crate::http::problem::{ApiResult, Problem};
use crate::routes::App;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use podo_app::operations::port::invariants::Stopped;
use podo_app::operations::verification;
use podo_domain::{ScheduleId, Timestamp};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;

pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(guarded!(show)).routes(guarded!(resume))
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Verified {
    /// The last check; absent before the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    last: Option<Checked>,
    stopped: Vec<Stopped>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Checked {
    started_at: Timestamp,
    finished_at: Timestamp,
    /// How many invariants are violated.
    broken: u64,
    /// As `podo verify --json` prints them.
    #[schema(value_type = Vec<podo_app::operations::port::invariants::Finding>)]
    findings: Value,
}

/// Every invariant with the result of the last check, and the sales that it stopped.
#[utoipa::path(get, path = "/api/admin/verify", operation_id = "show_invariants", tag = "admin", security(("accessToken" = [])),
    responses((status = 200, body = Verified), (status = 401, body = Problem),
              (status = 403, body = Problem)))]
pub(crate) async fn show(
    State(app): State<App>,
    _: Allowed<ViewOperations>,
) -> ApiResult<Json<Verified>> {
    let last = app.context.store.last_report().await?;
    let read = |report: podo_app::operations::port::invariants::Report| {
        let findings = serde_json::from_str(&report.findings).map_err(podo_app::Error::broken)?;
        let (started_at, finished_at) = (report.started_at, report.finished_at);
        Ok::<_, podo_app::Error>(Checked {
            started_at,
            finished_at,
            broken: report.n_broken,
            findings,
        })
    };
    let stopped = verification::stopped_sales(&app.context).await?;
    Ok(Json(Verified { last: last.map(read).transpose()?, stopped }))
}

/// Resumes a stopped sale. The next check stops it again if the invariant is still violated.
#[utoipa::path(post, path = "/api/admin/schedules/{id}/resume-sale", tag = "admin",
    security(("accessToken" = [])), params(("id" = ScheduleId, Path)),
    responses((status = 204), (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 404, body = Problem)))]
pub(crate) async fn resume(
    State(app): State<App>,
    Audited { actor, .. }: Audited<Operate, OfSchedule>,
    Id(schedule): Id<ScheduleId>,
) -> ApiResult<StatusCode> {
    verification::resume_sale(&app.context, actor, schedule).await?;
    Ok(StatusCode::NO_CONTENT)
}
