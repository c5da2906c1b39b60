//! Who has come: counts by grade, section and gate.

use crate::http::extract::permissions::{ViewAttendance, ViewSales};
use crate::http::extract::scope::OfSchedule;
use crate::http::extract::{Allowed, Id, guarded};
use crate::http::problem::{ApiResult, Problem};
use crate::http::respond::csv::{BYTE_ORDER_MARK, text_cell};
use crate::routes::App;
use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use podo_app::tickets::gate;
use podo_app::tickets::gate_port::Attendance;
use podo_domain::ScheduleId;
use std::fmt::Write;
use utoipa_axum::router::OpenApiRouter;

pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(guarded!(attendance)).routes(guarded!(attendance_file))
}

/// How many tickets of a date were admitted, by grade, section and gate.
#[utoipa::path(get, path = "/api/admin/schedules/{id}/attendance", tag = "admin",
    security(("accessToken" = [])), params(("id" = ScheduleId, Path)),
    responses((status = 200, body = Attendance), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn attendance(
    State(app): State<App>,
    _: Allowed<ViewAttendance, OfSchedule>,
    Id(schedule): Id<ScheduleId>,
) -> ApiResult<Json<Attendance>> {
    Ok(Json(gate::attendance(&app.context, schedule).await?))
}

/// The same as a CSV file.
#[utoipa::path(get, path = "/api/admin/schedules/{id}/attendance.csv", tag = "admin",
    security(("accessToken" = [])), params(("id" = ScheduleId, Path)),
    responses((status = 200, body = String, content_type = "text/csv"),
              (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 404, body = Problem)))]
pub(crate) async fn attendance_file(
    State(app): State<App>,
    _: Allowed<ViewSales, OfSchedule>,
    Id(schedule): Id<ScheduleId>,
) -> ApiResult<Response> {
    let found = gate::attendance(&app.context, schedule).await?;
    let kind = (header::CONTENT_TYPE, "text/csv; charset=utf-8");
    let saved = (header::CONTENT_DISPOSITION, "attachment; filename=\"attendance.csv\"");
    Ok(([kind, saved], text(&found)).into_response())
}

fn text(found: &Attendance) -> String {
    let mut text = format!("{BYTE_ORDER_MARK}by,name,tickets,admitted,undone,doubles\r\n");
    for grade in &found.grades {
        let _ = write!(
            text,
            "grade,{},{},{},,\r\n",
            text_cell(&grade.grade),
            grade.tickets,
            grade.admitted
        );
    }
    for section in &found.sections {
        let (name, tickets) = (text_cell(&section.section), section.tickets);
        let _ = write!(text, "section,{name},{tickets},{},,\r\n", section.admitted);
    }
    for gate in &found.gates {
        let (name, admitted) = (text_cell(&gate.gate), gate.admitted);
        let _ = write!(text, "gate,{name},,{admitted},{},{}\r\n", gate.undone, gate.doubles);
    }
    text
}
