//! The seat map: the layout, and the status of every seat.

use crate::http::extract::{Id, Params, PathText};
use crate::http::problem::{ApiResult, Problem};
use crate::routes::App;
use crate::routes::catalog::layouts::LayoutBody;
use crate::routes::catalog::seat_feed::is_canceled;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use podo_app::booking::seat_map::Snapshot;
use podo_app::catalog::LayoutView;
use podo_domain::{Refusal, ScheduleId};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// The layout of the seats. `Content-Location` names its permanent address, which contains the
/// layout's hash, so that every cache may keep it.
#[utoipa::path(get, path = "/api/schedules/{id}/layout", tag = "catalog",
    params(("id" = ScheduleId, Path)),
    responses((status = 200, body = LayoutView), (status = 304), (status = 404, body = Problem)))]
pub(crate) async fn show_layout(
    State(app): State<App>,
    Id(schedule): Id<ScheduleId>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let body = app.layouts.get(&app.context, schedule).await?;
    let mut response = layout_response(&body, &headers);
    let place = format!("/api/schedules/{schedule}/layout/{}", body.hash);
    set(&mut response, header::CONTENT_LOCATION, &place);
    set(&mut response, header::CACHE_CONTROL, "public, max-age=86400");
    Ok(response)
}

/// The layout with this hash. It never changes.
#[utoipa::path(get, path = "/api/schedules/{id}/layout/{hash}", tag = "catalog",
    params(("id" = ScheduleId, Path), ("hash" = String, Path)),
    responses((status = 200, body = LayoutView), (status = 304), (status = 404, body = Problem)))]
pub(crate) async fn show_named_layout(
    State(app): State<App>,
    Id(schedule): Id<ScheduleId>,
    PathText(hash): PathText,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let body = app.layouts.get(&app.context, schedule).await?;
    if body.hash != hash {
        return Err(Refusal::NotFound.into());
    }
    let mut response = layout_response(&body, &headers);
    set(&mut response, header::CACHE_CONTROL, "public, max-age=31536000, immutable");
    Ok(response)
}

fn layout_response(body: &LayoutBody, headers: &HeaderMap) -> Response {
    let tag = format!("\"{}\"", body.hash);
    let (encoding, bytes) = body.body.best_for(headers);
    let mut response = respond(headers, &tag, "application/json", bytes);
    set(&mut response, header::VARY, "Accept-Encoding");
    if let Some(encoding) = encoding.filter(|_| response.status() == StatusCode::OK) {
        set(&mut response, header::CONTENT_ENCODING, encoding);
    }
    response
}

/// The status of every seat in layout order: `A` available, `H` held, `S` sold.
#[derive(Serialize, ToSchema)]
pub(crate) struct SeatStatus {
    /// Increases with every change.
    version: u64,
    seats: String,
    /// The date is canceled: its seats are no longer sold.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    canceled: bool,
}

/// The seats whose status has changed since a version.
#[derive(Serialize, ToSchema)]
pub(crate) struct SeatChanges {
    version: u64,
    since: u64,
    /// Pairs of a seat's index in the layout and its letter.
    changes: Vec<(u32, String)>,
    /// The date is canceled: its seats are no longer sold.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    canceled: bool,
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct SinceParams {
    /// A version from an earlier response: the response contains only the changes since, or all
    /// seats if the server no longer knows that version.
    since: Option<u64>,
}

const SEAT_VERSION: HeaderName = HeaderName::from_static("seat-version");
const SCHEDULE_STATUS: HeaderName = HeaderName::from_static("schedule-status");

/// The status of every seat. `Accept: application/octet-stream` returns two bits per seat, the
/// first seat in the lowest bits of the first byte: 0 available, 1 held, 2 sold, 3 no
/// seat (after the last one); the header `Seat-Version` contains the version. A canceled date has `"canceled": true` and the header
/// `Schedule-Status: CANCELLED`.
#[utoipa::path(get, path = "/api/schedules/{id}/seats", tag = "catalog",
    params(("id" = ScheduleId, Path), SinceParams),
    responses((status = 200, content((SeatStatus = "application/json"),
                                     (SeatChanges = "application/json"),
                                     (Vec<u8> = "application/octet-stream"))),
              (status = 304), (status = 404, body = Problem)))]
pub(crate) async fn show_seats(
    State(app): State<App>,
    Id(schedule): Id<ScheduleId>,
    Params(params): Params<SinceParams>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let snapshot = app.context.booking.seat_maps.snapshot(&app.context, schedule).await?;
    let is_canceled = is_canceled(&app.context, schedule).await;
    let changes = params.since.and_then(|since| snapshot.changes_since(since));
    let mut response = match changes {
        Some(changes) => {
            let changes = marked(&changes, is_canceled);
            ([(header::CONTENT_TYPE, "application/json")], changes).into_response()
        }
        None => whole_map(&snapshot, &headers, is_canceled),
    };
    if is_canceled {
        set(&mut response, SCHEDULE_STATUS, "CANCELLED");
    }
    // The response is the same for all fans, so a shared cache may serve it for a second.
    set(&mut response, header::CACHE_CONTROL, "public, max-age=0, s-maxage=1");
    set(&mut response, header::VARY, "Accept");
    response.headers_mut().insert(SEAT_VERSION, HeaderValue::from(snapshot.version));
    Ok(response)
}

/// The tag is derived from the statuses, not the version, so that all nodes agree on it.
fn whole_map(snapshot: &Snapshot, headers: &HeaderMap, is_canceled: bool) -> Response {
    let mark = if is_canceled { "c" } else { "" };
    let accepted = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    match accepted.is_some_and(|accepted| accepted.contains("application/octet-stream")) {
        true => {
            let tag = format!("W/\"{}b{mark}\"", snapshot.tag);
            respond(headers, &tag, "application/octet-stream", &snapshot.packed)
        }
        false => {
            let tag = format!("W/\"{}{mark}\"", snapshot.tag);
            let json = marked(&snapshot.json, is_canceled);
            respond(headers, &tag, "application/json", &json)
        }
    }
}

/// The same object with the `canceled` member.
fn marked(json: &Bytes, is_canceled: bool) -> Bytes {
    match json.strip_suffix(b"}").filter(|_| is_canceled) {
        Some(open) => Bytes::from([open, br#","canceled":true}"#].concat()),
        None => json.clone(),
    }
}

/// The body with its tag, or 304 if the client has it.
fn respond(headers: &HeaderMap, tag: &str, kind: &'static str, body: &Bytes) -> Response {
    let mut response = match has_tag(headers, tag) {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => ([(header::CONTENT_TYPE, kind)], Body::from(body.clone())).into_response(),
    };
    set(&mut response, header::ETAG, tag);
    response
}

fn has_tag(headers: &HeaderMap, tag: &str) -> bool {
    let bare = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    let known = headers.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    known.is_some_and(|known| known.split(',').any(|one| bare(one) == bare(tag) || one == "*"))
}

fn set(response: &mut Response, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::try_from(value) {
        response.headers_mut().insert(name, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_found_in_a_list_weak_or_not() {
        let known = |text: &str| {
            let value = HeaderValue::from_str(text).unwrap();
            has_tag(&HeaderMap::from_iter([(header::IF_NONE_MATCH, value)]), "W/\"a\"")
        };
        assert!(known("\"a\"") && known("W/\"a\"") && known("\"b\", W/\"a\"") && known("*"));
        assert!(!known("\"b\""));
    }
}
