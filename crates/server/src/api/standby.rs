//! Standing by for seats of a date that is sold out.

use super::App;
use super::error::{ApiResult, Problem};
use super::extract::{Body, Fan, Params};
use app::standby::{self, StandbyView};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use domain::ScheduleId;
use domain::text::Line;
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct StandbyBody {
    schedule_id: ScheduleId,
    grade: Line<20>,
    #[schema(minimum = 1, maximum = 4)]
    count: u32,
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct StandbyParams {
    #[param(value_type = String, format = Uuid)]
    schedule_id: ScheduleId,
}

/// Stands by for seats that come back: whoever came first is offered them first, as a hold with a
/// letter. Joining again finds the same place.
#[utoipa::path(post, path = "/api/booking/standby", tag = "booking",
    security(("accessToken" = [])), request_body = StandbyBody,
    responses((status = 200, body = StandbyView), (status = 401, body = Problem),
              (status = 404, body = Problem), (status = 409, body = Problem),
              (status = 422, body = Problem)))]
pub(super) async fn stand_by(
    State(app): State<App>,
    Fan(caller): Fan,
    body: Body<StandbyBody>,
) -> ApiResult<Json<StandbyView>> {
    let StandbyBody { schedule_id, grade, count } = body.value;
    let platform = &app.platform;
    let grade = String::from(grade);
    Ok(Json(standby::stand_by(platform, caller.user, schedule_id, grade, count).await?))
}

/// The fan's place in the standby list of a date, or the seats that are held for them.
#[utoipa::path(get, path = "/api/booking/standby", tag = "booking",
    security(("accessToken" = [])), params(StandbyParams),
    responses((status = 200, body = StandbyView), (status = 401, body = Problem),
              (status = 404, body = Problem)))]
pub(super) async fn my_standby(
    State(app): State<App>,
    Fan(caller): Fan,
    Params(params): Params<StandbyParams>,
) -> ApiResult<Json<StandbyView>> {
    Ok(Json(standby::my_standby(&app.platform, caller.user, params.schedule_id).await?))
}

/// Gives up waiting. Seats that are offered already are given back like any held ones.
#[utoipa::path(delete, path = "/api/booking/standby", tag = "booking",
    security(("accessToken" = [])), params(StandbyParams),
    responses((status = 204), (status = 401, body = Problem), (status = 404, body = Problem),
              (status = 409, body = Problem)))]
pub(super) async fn leave_standby(
    State(app): State<App>,
    Fan(caller): Fan,
    Params(params): Params<StandbyParams>,
) -> ApiResult<StatusCode> {
    standby::leave_standby(&app.platform, caller.user, params.schedule_id).await?;
    Ok(StatusCode::NO_CONTENT)
}
