//! The daily report for organisers.

use crate::http::extract::permissions::ViewSales;
use crate::http::extract::{Allowed, Params, guarded};
use crate::http::problem::{ApiResult, Problem};
use crate::routes::App;
use axum::Json;
use axum::extract::State;
use podo_app::payments::reports;
use podo_app::payments::reports::DayReport;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;

pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(guarded!(reconciliation))
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct DayParams {
    /// A day in Seoul, `YYYY-MM-DD`.
    day: String,
}

/// Compares the gateways' records, our payments and the tickets of a day.
#[utoipa::path(get, path = "/api/admin/reconciliation", tag = "admin",
    security(("accessToken" = [])), params(DayParams),
    responses((status = 200, body = DayReport), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn reconciliation(
    State(app): State<App>,
    _: Allowed<ViewSales>,
    Params(params): Params<DayParams>,
) -> ApiResult<Json<DayReport>> {
    Ok(Json(reports::reconcile_day(&app.context, &params.day).await?))
}
