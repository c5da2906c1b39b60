//! The course and the outcome of a sale.

use crate::http::extract::permissions::ViewSales;
use crate::http::extract::scope::OfSchedule;
use crate::http::extract::{Allowed, Id, Params, guarded};
use crate::http::problem::{ApiResult, Problem};
use crate::routes::App;
use axum::Json;
use axum::extract::State;
use podo_app::waiting_room::history::course;
use podo_app::waiting_room::history::course::{Course, SaleReport};
use podo_domain::{ScheduleId, Timestamp};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;

pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(guarded!(show_course)).routes(guarded!(show_sale_report))
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CourseParams {
    /// Without it, from the beginning of the sale.
    #[param(value_type = Option<String>, format = DateTime)]
    from: Option<Timestamp>,
    /// Without it, until now.
    #[param(value_type = Option<String>, format = DateTime)]
    to: Option<Timestamp>,
}

/// The figures of a sale over time, kept by the server: every ten seconds while fans are there, and
/// in longer steps for a longer period.
#[utoipa::path(get, path = "/api/admin/schedules/{id}/course", tag = "admin",
    security(("accessToken" = [])), params(("id" = ScheduleId, Path), CourseParams),
    responses((status = 200, body = Course), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 422, body = Problem)))]
pub(crate) async fn show_course(
    State(app): State<App>,
    _: Allowed<ViewSales, OfSchedule>,
    Id(schedule): Id<ScheduleId>,
    Params(params): Params<CourseParams>,
) -> ApiResult<Json<Course>> {
    Ok(Json(course::course(&app.context, schedule, params.from, params.to).await?))
}

/// What a sale led to: orders, seats and revenue, admissions and peaks.
#[utoipa::path(get, path = "/api/admin/schedules/{id}/sale-report", tag = "admin",
    security(("accessToken" = [])), params(("id" = ScheduleId, Path)),
    responses((status = 200, body = SaleReport), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn show_sale_report(
    State(app): State<App>,
    _: Allowed<ViewSales, OfSchedule>,
    Id(schedule): Id<ScheduleId>,
) -> ApiResult<Json<SaleReport>> {
    Ok(Json(course::sale_report(&app.context, schedule).await?))
}
