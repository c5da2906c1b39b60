//! What happened to a fan in the waiting rooms, for support.

use crate::api::App;
use crate::api::error::{ApiResult, Problem};
use crate::api::extract::{AuditedViewer, Id, Params, guarded, page_limit};
use app::paging::Page;
use app::queue::{self, QueueEventView};
use axum::Json;
use axum::extract::State;
use domain::{ScheduleId, UserId};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use uuid::Uuid;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(guarded!(show_timeline))
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct TimelineParams {
    /// Only this date.
    #[param(value_type = Option<String>, format = Uuid)]
    schedule_id: Option<ScheduleId>,
    #[param(minimum = 1, maximum = 100)]
    limit: Option<u32>,
    /// `nextCursor` of the page before.
    cursor: Option<Uuid>,
}

/// What happened to a fan in the waiting rooms, newest first: coming, positions seen now and then,
/// leaving, being let in, and how the entry ended.
#[utoipa::path(get, path = "/api/admin/users/{id}/queue", tag = "admin",
    operation_id = "show_queue_timeline", security(("accessToken" = [])),
    params(("id" = UserId, Path), TimelineParams),
    responses((status = 200, body = Page<QueueEventView>), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 422, body = Problem)))]
pub(super) async fn show_timeline(
    State(app): State<App>,
    _: AuditedViewer,
    Id(user): Id<UserId>,
    Params(params): Params<TimelineParams>,
) -> ApiResult<Json<Page<QueueEventView>>> {
    let (whose, limit) = ((user, params.schedule_id), page_limit(params.limit)?);
    Ok(Json(queue::queue_timeline(&app.platform, whose, params.cursor, limit).await?))
}
