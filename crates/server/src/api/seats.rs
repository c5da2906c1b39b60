//! The seat map: where every seat is, how it stands, and what changes while one looks.

use super::App;
use super::error::{ApiError, ApiResult, Problem};
use super::extract::{Id, Network, Params, PathText, open_stream};
use super::language::Language;
use crate::layouts::LayoutBody;
use crate::seat_feed::{News, is_canceled};
use crate::shares::Share;
use app::catalog::LayoutView;
use app::seat_map::Snapshot;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use domain::{Refusal, ScheduleId};
use futures::stream::{self, Stream};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::time::Duration;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use utoipa::{IntoParams, ToSchema};

/// Where every seat is. Answers with the address that holds it for ever: the layout's hash is part
/// of it, so every cache may keep it.
#[utoipa::path(get, path = "/api/schedules/{id}/layout", tag = "catalog",
    params(("id" = ScheduleId, Path)),
    responses((status = 200, body = LayoutView), (status = 304), (status = 404, body = Problem)))]
pub(super) async fn show_layout(
    State(app): State<App>,
    Id(schedule): Id<ScheduleId>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let body = app.layouts.get(&app.platform, schedule).await?;
    let mut response = layout_response(&body, &headers);
    let place = format!("/api/schedules/{schedule}/layout/{}", body.hash);
    set(&mut response, header::CONTENT_LOCATION, &place);
    set(&mut response, header::CACHE_CONTROL, "public, max-age=86400");
    Ok(response)
}

/// The layout under its hash. It never changes.
#[utoipa::path(get, path = "/api/schedules/{id}/layout/{hash}", tag = "catalog",
    params(("id" = ScheduleId, Path), ("hash" = String, Path)),
    responses((status = 200, body = LayoutView), (status = 304), (status = 404, body = Problem)))]
pub(super) async fn show_named_layout(
    State(app): State<App>,
    Id(schedule): Id<ScheduleId>,
    PathText(hash): PathText,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let body = app.layouts.get(&app.platform, schedule).await?;
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
pub(super) struct SeatStatus {
    /// Grows when anything changed.
    version: u64,
    seats: String,
    /// The date is called off: no seat of it is sold any more.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    canceled: bool,
}

/// The seats that look different since a version.
#[derive(Serialize, ToSchema)]
pub(super) struct SeatChanges {
    version: u64,
    since: u64,
    /// Pairs of a seat's place in the layout and its letter.
    changes: Vec<(u32, String)>,
    /// The date is called off: no seat of it is sold any more.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    canceled: bool,
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct SinceParams {
    /// A version from an earlier answer: only the changes since are sent, or all seats when the
    /// server does not know that version any more.
    since: Option<u64>,
}

const SEAT_VERSION: HeaderName = HeaderName::from_static("seat-version");
const SCHEDULE_STATUS: HeaderName = HeaderName::from_static("schedule-status");

/// The status of every seat. `Accept: application/octet-stream` gives two bits a seat, the first in
/// the lowest bits of the first byte: 0 available, 1 held, 2 sold; the header `Seat-Version` names
/// the version. A date that is called off has `"canceled": true` and the header `Schedule-Status:
/// CANCELLED`.
#[utoipa::path(get, path = "/api/schedules/{id}/seats", tag = "catalog",
    params(("id" = ScheduleId, Path), SinceParams),
    responses((status = 200, content((SeatStatus = "application/json"),
                                     (SeatChanges = "application/json"),
                                     (Vec<u8> = "application/octet-stream"))),
              (status = 304), (status = 404, body = Problem)))]
pub(super) async fn show_seats(
    State(app): State<App>,
    Id(schedule): Id<ScheduleId>,
    Params(params): Params<SinceParams>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let snapshot = app.platform.seat_maps.snapshot(&app.platform, schedule).await?;
    let is_canceled = is_canceled(&app.platform, schedule).await;
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
    // Everybody sees the same, so a cache in front may answer for a second.
    set(&mut response, header::CACHE_CONTROL, "public, max-age=0, s-maxage=1");
    set(&mut response, header::VARY, "Accept");
    response.headers_mut().insert(SEAT_VERSION, HeaderValue::from(snapshot.version));
    Ok(response)
}

/// The tag names what is seen, not the version: all nodes call the same seats alike.
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

/// The same object with the word that the date is called off.
fn marked(json: &Bytes, is_canceled: bool) -> Bytes {
    match json.strip_suffix(b"}").filter(|_| is_canceled) {
        Some(open) => Bytes::from([open, br#","canceled":true}"#].concat()),
        None => json.clone(),
    }
}

/// The body under its tag, or 304 for somebody who has it.
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

/// A line now and then, so that proxies keep the connection and dead clients are noticed.
const HEARTBEAT_EVERY: Duration = Duration::from_secs(15);

/// Changes as they happen (server-sent events). The first event, `seats`, has all seats, unless
/// `Last-Event-ID` names a version that is still known. `changes` events follow; each names the
/// version that it builds on (`since`) and its own as the event's id. Whoever is too slow gets
/// `seats` again. `canceled` says once, in the asker's language, that the date is called off.
#[utoipa::path(get, path = "/api/schedules/{id}/seats/stream", operation_id = "stream_seats", tag = "catalog",
    params(("id" = ScheduleId, Path), ("Last-Event-ID" = Option<u64>, Header)),
    responses((status = 200, body = SeatStatus, content_type = "text/event-stream"),
              (status = 404, body = Problem), (status = 429, body = Problem)))]
pub(super) async fn stream(
    State(app): State<App>,
    Id(schedule): Id<ScheduleId>,
    Network(network): Network,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let share = open_stream(&app, network)?;
    // Listening begins before the first look, so that nothing falls in between.
    app.platform.seat_maps.snapshot(&app.platform, schedule).await?;
    let news = app.seat_feed.listen(&app.platform, &app.tasks, schedule);
    let snapshot = app.platform.seat_maps.snapshot(&app.platform, schedule).await?;
    let known = headers.get("last-event-id").and_then(|value| value.to_str().ok());
    let since = known.and_then(|text| text.parse().ok());
    let is_called_off = is_canceled(&app.platform, schedule).await;
    let mut listener = Listener {
        app,
        schedule,
        news,
        version: snapshot.version,
        pieces: VecDeque::new(),
        language: Language::of(&headers),
        is_called_off,
        _share: share,
    };
    match since.and_then(|since| snapshot.changes_since(since)) {
        Some(changes) => listener.say("changes", Some(snapshot.version), changes),
        None => listener.say_whole(&snapshot),
    }
    if is_called_off {
        listener.say_canceled();
    }
    let mut response = Body::from_stream(listener.pieces()).into_response();
    set(&mut response, header::CONTENT_TYPE, "text/event-stream");
    set(&mut response, header::CACHE_CONTROL, "no-cache");
    set(&mut response, HeaderName::from_static("x-accel-buffering"), "no");
    Ok(response)
}

/// Data below this size is copied into its event; more is shared by all who listen.
const COPIED_MAX: usize = 2 * 1_024;

const END_OF_EVENT: &[u8] = b"\n\n";

/// A line without meaning.
const HEARTBEAT: Bytes = Bytes::from_static(b":\n\n");

struct Listener {
    app: App,
    schedule: ScheduleId,
    news: Receiver<News>,
    /// What the client knows.
    version: u64,
    /// What it is told next, in pieces of events.
    pieces: VecDeque<Bytes>,
    language: Language,
    /// It was told that the date is called off.
    is_called_off: bool,
    _share: Share,
}

impl Listener {
    fn pieces(self) -> impl Stream<Item = Result<Bytes, Infallible>> {
        stream::unfold(self, |mut listener| async move {
            let piece = listener.next().await?;
            Some((Ok(piece), listener))
        })
    }

    /// The next piece; nothing when it is time to stop.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(piece) = self.pieces.pop_front() {
                return Some(piece);
            }
            let heard = tokio::select! {
                heard = self.news.recv() => heard,
                () = self.app.tasks.stopped() => return None,
                () = tokio::time::sleep(HEARTBEAT_EVERY) => return Some(HEARTBEAT),
            };
            match heard {
                // It was part of what the client got first.
                Ok(News::Changed(delta)) if delta.version <= self.version => {}
                Ok(News::Changed(delta)) if delta.since == self.version => {
                    self.version = delta.version;
                    self.say("changes", Some(delta.version), delta.json.clone());
                }
                Ok(News::Canceled) if self.is_called_off => {}
                Ok(News::Canceled) => {
                    self.is_called_off = true;
                    self.say_canceled();
                }
                Ok(News::Changed(_) | News::Whole(_)) | Err(RecvError::Lagged(_)) => {
                    self.resync().await?;
                }
                Err(RecvError::Closed) => return None,
            }
        }
    }

    /// Adds an event. Its data is JSON, which has no line breaks.
    fn say(&mut self, name: &str, version: Option<u64>, data: Bytes) {
        let id = version.map_or(String::new(), |version| format!("id: {version}\n"));
        let head = format!("event: {name}\n{id}data: ");
        match data.len() {
            0..=COPIED_MAX => {
                let event = [head.as_bytes(), &data, END_OF_EVENT].concat();
                self.pieces.push_back(event.into());
            }
            _ => self.pieces.extend([head.into(), data, Bytes::from_static(END_OF_EVENT)]),
        }
    }

    fn say_whole(&mut self, snapshot: &Snapshot) {
        self.say("seats", Some(snapshot.version), snapshot.json.clone());
    }

    /// The word that the date is called off.
    fn say_canceled(&mut self) {
        let error = ApiError::from(Refusal::ScheduleCanceled);
        let (_, detail) = error.told(self.language);
        let data = serde_json::json!({ "code": error.code(), "detail": detail });
        self.say("canceled", None, data.to_string().into());
    }

    /// The whole map instead of a backlog.
    async fn resync(&mut self) -> Option<()> {
        self.news = self.news.resubscribe();
        let platform = &self.app.platform;
        let snapshot = platform.seat_maps.snapshot(platform, self.schedule).await.ok()?;
        // What was missed may have been this.
        let is_news = !self.is_called_off && is_canceled(platform, self.schedule).await;
        self.version = snapshot.version;
        self.say_whole(&snapshot);
        if is_news {
            self.is_called_off = true;
            self.say_canceled();
        }
        Some(())
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
