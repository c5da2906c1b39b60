//! What organisers do.

mod catalog;
mod templates;

use super::App;
use super::error::{ApiResult, Problem};
use super::extract::{Admin, Body, Id};
use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use domain::queue::{QueueCounts, QueueSettings};
use domain::{Refusal, ScheduleId, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .merge(catalog::routes())
        .merge(templates::routes())
        .routes(routes!(show_queue, change_queue))
        .routes(routes!(show_live))
}

/// The schema of seat templates, for editors and for those who write them by hand.
pub(super) async fn layout_schema() -> impl IntoResponse {
    let kind = (header::CONTENT_TYPE, "application/schema+json");
    let kept = (header::CACHE_CONTROL, "public, max-age=3600");
    ([kind, kept], templates::SCHEMA)
}

/// How a schedule's queue is set.
#[utoipa::path(get, path = "/api/admin/schedules/{id}/queue", tag = "admin",
    security(("accessToken" = [])), params(("id" = ScheduleId, Path)),
    responses((status = 200, body = QueueSettings), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem)))]
pub(super) async fn show_queue(
    State(app): State<App>,
    Admin(_actor): Admin,
    Id(schedule): Id<ScheduleId>,
) -> ApiResult<Json<QueueSettings>> {
    let record = app.platform.store.schedule(schedule).await?.ok_or(Refusal::NotFound)?;
    Ok(Json(record.queue))
}

/// Sets a schedule's queue: mode, cap, rate, message.
#[utoipa::path(put, path = "/api/admin/schedules/{id}/queue", tag = "admin",
    security(("accessToken" = [])), params(("id" = ScheduleId, Path)),
    request_body = QueueSettings,
    responses((status = 200, body = QueueSettings), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 422, body = Problem)))]
pub(super) async fn change_queue(
    State(app): State<App>,
    Admin(actor): Admin,
    Id(schedule): Id<ScheduleId>,
    body: Body<QueueSettings>,
) -> ApiResult<Json<QueueSettings>> {
    let settings = body.value;
    app::catalog::change_queue(&app.platform, actor, schedule, settings.clone()).await?;
    Ok(Json(settings))
}

/// How a sale is going.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct LiveView {
    gathered: u64,
    waiting: u64,
    active: u64,
    admitted: u64,
    admitted_per_second: f64,
    available: u32,
    held: u32,
    sold: u32,
    now: Timestamp,
}

/// The queue and the seats of a schedule, now.
#[utoipa::path(get, path = "/api/admin/schedules/{id}/live", tag = "admin",
    security(("accessToken" = [])), params(("id" = ScheduleId, Path)),
    responses((status = 200, body = LiveView), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem)))]
pub(super) async fn show_live(
    State(app): State<App>,
    Admin(_actor): Admin,
    Id(schedule): Id<ScheduleId>,
) -> ApiResult<Json<LiveView>> {
    let now = app.platform.now();
    let counts: QueueCounts = app.platform.queue.counts(schedule, now).await?;
    let snapshot = app.platform.seat_maps.snapshot(&app.platform, schedule).await?;
    let seats = snapshot.counts;
    Ok(Json(LiveView {
        gathered: counts.gathered,
        waiting: counts.waiting,
        active: counts.inside,
        admitted: counts.admitted,
        admitted_per_second: counts.admitted_per_second,
        available: seats.available,
        held: seats.held,
        sold: seats.sold,
        now,
    }))
}
