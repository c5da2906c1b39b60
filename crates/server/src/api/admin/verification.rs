//! The promises as organisers see them: what the last check found, and which sales it stopped.

use crate::api::App;
use crate::api::error::{ApiResult, Problem};
use crate::api::extract::{AuditedAdmin, Id, Viewer, guarded};
use app::ports::invariants::Stopped;
use app::verification;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use domain::{ScheduleId, Timestamp};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(guarded!(show)).routes(guarded!(resume))
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Verified {
    /// The last check; absent before the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    last: Option<Checked>,
    stopped: Vec<Stopped>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Checked {
    started_at: Timestamp,
    finished_at: Timestamp,
    /// How many promises do not hold.
    broken: u64,
    /// As `podo verify --json` prints them.
    #[schema(value_type = Vec<app::ports::invariants::Finding>)]
    findings: Value,
}

/// Every promise: what the last check found, and which sales are stopped because of it.
#[utoipa::path(get, path = "/api/admin/verify", operation_id = "show_invariants", tag = "admin", security(("accessToken" = [])),
    responses((status = 200, body = Verified), (status = 401, body = Problem),
              (status = 403, body = Problem)))]
pub(super) async fn show(State(app): State<App>, _: Viewer) -> ApiResult<Json<Verified>> {
    let last = app.platform.store.last_report().await?;
    let read = |report: app::ports::invariants::Report| {
        let findings = serde_json::from_str(&report.findings).map_err(app::Error::broken)?;
        let (started_at, finished_at) = (report.started_at, report.finished_at);
        Ok::<_, app::Error>(Checked { started_at, finished_at, broken: report.n_broken, findings })
    };
    let stopped = verification::stopped_sales(&app.platform).await?;
    Ok(Json(Verified { last: last.map(read).transpose()?, stopped }))
}

/// Lets a stopped sale go on. The next check stops it again if the promise is still broken.
#[utoipa::path(post, path = "/api/admin/schedules/{id}/resume-sale", tag = "admin",
    security(("accessToken" = [])), params(("id" = ScheduleId, Path)),
    responses((status = 204), (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 404, body = Problem)))]
pub(super) async fn resume(
    State(app): State<App>,
    AuditedAdmin(actor): AuditedAdmin,
    Id(schedule): Id<ScheduleId>,
) -> ApiResult<StatusCode> {
    verification::resume_sale(&app.platform, actor, schedule).await?;
    Ok(StatusCode::NO_CONTENT)
}
