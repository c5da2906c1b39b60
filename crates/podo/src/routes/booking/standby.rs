//! The standby list of a sold-out date.

use crate::http::extract::{Body, Fan, Params};
use crate::http::problem::{ApiResult, Problem};
use crate::routes::App;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use podo_app::booking::standby;
use podo_app::booking::standby::StandbyView;
use podo_domain::ScheduleId;
use podo_domain::catalog::text::Line;
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct StandbyBody {
    schedule_id: ScheduleId,
    grade: Line<20>,
    #[schema(minimum = 1, maximum = 4)]
    count: u32,
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct StandbyParams {
    #[param(value_type = String, format = Uuid)]
    schedule_id: ScheduleId,
}

/// Joins the standby list. Returned seats are offered in the order of joining, as a hold with a
/// notification. Joining again keeps the same place.
#[utoipa::path(post, path = "/api/booking/standby", tag = "booking",
    security(("accessToken" = [])), request_body = StandbyBody,
    responses((status = 200, body = StandbyView), (status = 401, body = Problem),
              (status = 404, body = Problem), (status = 409, body = Problem),
              (status = 422, body = Problem)))]
pub(crate) async fn stand_by(
    State(app): State<App>,
    Fan(caller): Fan,
    body: Body<StandbyBody>,
) -> ApiResult<Json<StandbyView>> {
    let StandbyBody { schedule_id, grade, count } = body.value;
    let context = &app.context;
    let grade = String::from(grade);
    Ok(Json(standby::stand_by(context, caller.user, schedule_id, grade, count).await?))
}

/// The fan's place in a date's standby list, or the seats held for them.
#[utoipa::path(get, path = "/api/booking/standby", tag = "booking",
    security(("accessToken" = [])), params(StandbyParams),
    responses((status = 200, body = StandbyView), (status = 401, body = Problem),
              (status = 404, body = Problem)))]
pub(crate) async fn my_standby(
    State(app): State<App>,
    Fan(caller): Fan,
    Params(params): Params<StandbyParams>,
) -> ApiResult<Json<StandbyView>> {
    Ok(Json(standby::my_standby(&app.context, caller.user, params.schedule_id).await?))
}

/// Leaves the standby list. Release seats that are already offered like any held ones.
#[utoipa::path(delete, path = "/api/booking/standby", tag = "booking",
    security(("accessToken" = [])), params(StandbyParams),
    responses((status = 204), (status = 401, body = Problem), (status = 404, body = Problem),
              (status = 409, body = Problem)))]
pub(crate) async fn leave_standby(
    State(app): State<App>,
    Fan(caller): Fan,
    Params(params): Params<StandbyParams>,
) -> ApiResult<StatusCode> {
    standby::leave_standby(&app.context, caller.user, params.schedule_id).await?;
    Ok(StatusCode::NO_CONTENT)
}
