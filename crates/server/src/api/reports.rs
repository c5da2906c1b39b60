//! The daily report for organisers.

use super::App;
use super::error::{ApiResult, Problem};
use super::extract::{Params, Viewer, guarded};
use app::reports::{self, DayReport};
use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(guarded!(reconciliation))
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct DayParams {
    /// A day in Seoul, `YYYY-MM-DD`.
    day: String,
}

/// The gateways' books, our payments and the tickets of a day, side by side.
#[utoipa::path(get, path = "/api/admin/reconciliation", tag = "admin",
    security(("accessToken" = [])), params(DayParams),
    responses((status = 200, body = DayReport), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 422, body = Problem)))]
pub(super) async fn reconciliation(
    State(app): State<App>,
    _: Viewer,
    Params(params): Params<DayParams>,
) -> ApiResult<Json<DayReport>> {
    Ok(Json(reports::reconcile_day(&app.platform, &params.day).await?))
}
