//! Events, schedules, layouts and seat status: what everybody may see.

use super::App;
use super::error::{ApiResult, Problem};
use super::extract::{Id, Params, page};
use app::catalog::{self, EventDetail, EventView, LayoutView, ScheduleDetail};
use app::paging::Page;
use app::ports::catalog::EventFilter;
use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use domain::catalog::EventStatus;
use domain::text::Line;
use domain::{EventId, ScheduleId, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct EventParams {
    /// Part of a title or an artist's name.
    #[param(value_type = Option<String>, max_length = 100)]
    query: Option<Line<100>>,
    #[param(value_type = Option<String>, max_length = 100)]
    city: Option<Line<100>>,
    status: Option<EventStatus>,
    /// Shows at or after this moment.
    #[param(value_type = Option<String>, format = DateTime)]
    from: Option<Timestamp>,
    /// Shows before this moment.
    #[param(value_type = Option<String>, format = DateTime)]
    to: Option<Timestamp>,
    #[param(minimum = 1, maximum = 100)]
    limit: Option<u32>,
    cursor: Option<Uuid>,
}

/// Events that fans may see, newest first.
#[utoipa::path(get, path = "/api/events", tag = "catalog", params(EventParams),
    responses((status = 200, body = Page<EventView>), (status = 422, body = Problem)))]
pub(super) async fn list_events(
    State(app): State<App>,
    Params(params): Params<EventParams>,
) -> ApiResult<Json<Page<EventView>>> {
    let page = page(params.limit, params.cursor)?;
    let filter = EventFilter {
        query: params.query.map(String::from),
        city: params.city.map(String::from),
        only: params.status,
        from: params.from,
        to: params.to,
    };
    Ok(Json(catalog::list_events(&app.platform, filter, page).await?))
}

/// An event with its schedules.
#[utoipa::path(get, path = "/api/events/{id}", tag = "catalog", params(("id" = EventId, Path)),
    responses((status = 200, body = EventDetail), (status = 404, body = Problem)))]
pub(super) async fn show_event(
    State(app): State<App>,
    Id(event): Id<EventId>,
) -> ApiResult<Json<EventDetail>> {
    Ok(Json(catalog::show_event(&app.platform, event).await?))
}

/// A schedule with prices, the sale's window and the seats left by grade.
#[utoipa::path(get, path = "/api/schedules/{id}", tag = "catalog",
    params(("id" = ScheduleId, Path)),
    responses((status = 200, body = ScheduleDetail), (status = 404, body = Problem)))]
pub(super) async fn show_schedule(
    State(app): State<App>,
    Id(schedule): Id<ScheduleId>,
) -> ApiResult<Json<ScheduleDetail>> {
    Ok(Json(catalog::show_schedule(&app.platform, schedule).await?))
}

/// Where every seat is. It never changes.
#[utoipa::path(get, path = "/api/schedules/{id}/layout", tag = "catalog",
    params(("id" = ScheduleId, Path)),
    responses((status = 200, body = LayoutView), (status = 404, body = Problem)))]
pub(super) async fn show_layout(
    State(app): State<App>,
    Id(schedule): Id<ScheduleId>,
) -> ApiResult<Response> {
    let layout = catalog::show_layout(&app.platform, schedule).await?;
    let kept = HeaderValue::from_static("public, max-age=86400, immutable");
    Ok(([(header::CACHE_CONTROL, kept)], Json(layout)).into_response())
}

/// The status of every seat in layout order: `A` available, `H` held, `S` sold.
#[derive(Serialize, ToSchema)]
pub(super) struct SeatStatus {
    /// Grows when anything changed.
    version: i64,
    seats: String,
}

/// The status of every seat. `Accept: application/octet-stream` gives two bits a seat.
#[utoipa::path(get, path = "/api/schedules/{id}/seats", tag = "catalog",
    params(("id" = ScheduleId, Path)),
    responses((status = 200, body = SeatStatus), (status = 304), (status = 404, body = Problem)))]
pub(super) async fn show_seats(
    State(app): State<App>,
    Id(schedule): Id<ScheduleId>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let snapshot = app.seat_maps.snapshot(&app.platform, schedule).await?;
    let is_packed = accepts_bytes(&headers);
    let tag = format!("\"{}{}\"", snapshot.version, if is_packed { "b" } else { "" });
    let (kind, body) = match is_packed {
        true => ("application/octet-stream", snapshot.packed.clone()),
        false => ("application/json", snapshot.json.clone()),
    };
    let is_known = headers.get(header::IF_NONE_MATCH).is_some_and(|known| known == tag.as_str());
    let mut response = match is_known {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => ([(header::CONTENT_TYPE, kind)], Body::from(body)).into_response(),
    };
    // Everybody sees the same, so a cache in front may answer for a second.
    let shared = HeaderValue::from_static("public, max-age=0, s-maxage=1");
    response.headers_mut().insert(header::CACHE_CONTROL, shared);
    response.headers_mut().insert(header::VARY, HeaderValue::from_static("Accept"));
    if let Ok(tag) = HeaderValue::try_from(tag) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    Ok(response)
}

fn accepts_bytes(headers: &HeaderMap) -> bool {
    let accepted = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    accepted.is_some_and(|accepted| accepted.contains("application/octet-stream"))
}
