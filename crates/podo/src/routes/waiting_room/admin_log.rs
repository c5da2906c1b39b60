//! A fan's events in the waiting rooms, for support.

use crate::http::extract::permissions::ViewPeople;
use crate::http::extract::{Audited, Id, Params, guarded, page_limit};
use crate::http::problem::{ApiResult, Problem};
use crate::routes::App;
use axum::Json;
use axum::extract::State;
use podo_app::store::Page;
use podo_app::waiting_room;
use podo_app::waiting_room::QueueEventView;
use podo_domain::{ScheduleId, UserId};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use uuid::Uuid;

pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(guarded!(show_timeline))
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct TimelineParams {
    /// Only this date.
    #[param(value_type = Option<String>, format = Uuid)]
    schedule_id: Option<ScheduleId>,
    #[param(minimum = 1, maximum = 100)]
    limit: Option<u32>,
    /// `nextCursor` of the previous page.
    cursor: Option<Uuid>,
}

/// A fan's events in the waiting rooms, newest first: entering, sampled positions, leaving,
/// admission, and how the entry ended.
#[utoipa::path(get, path = "/api/admin/users/{id}/queue", tag = "admin",
    operation_id = "show_queue_timeline", security(("accessToken" = [])),
    params(("id" = UserId, Path), TimelineParams),
    responses((status = 200, body = Page<QueueEventView>), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn show_timeline(
    State(app): State<App>,
    _: Audited<ViewPeople>,
    Id(user): Id<UserId>,
    Params(params): Params<TimelineParams>,
) -> ApiResult<Json<Page<QueueEventView>>> {
    let limit = page_limit(params.limit)?;
    Ok(Json(
        waiting_room::queue_timeline(&app.context, user, params.schedule_id, params.cursor, limit)
            .await?,
    ))
}
