//! The seat map as a stream of server-sent events.

use crate::http::address_budgets::Share;
use crate::http::extract::{ClientHeaders, Id, Network, open_stream};
use crate::http::language::Language;
use crate::http::problem::{ApiError, ApiResult, Problem};
use crate::http::respond::answer::{EventStream, HotResponse};
use crate::http::respond::events::{EventSource, event};
use crate::routes::App;
use crate::routes::catalog::seat_feed::{News, is_canceled};
use crate::routes::catalog::seats::SeatStatus;
use axum::extract::State;
use axum::http::HeaderMap;
use bytes::Bytes;
use podo_app::booking::seat_map::Snapshot;
use podo_domain::{Refusal, ScheduleId};
use std::collections::VecDeque;
use std::net::IpAddr;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

/// Changes as they happen (server-sent events). The first event, `seats`, contains all seats,
/// unless `Last-Event-ID` names a version that is still known. `changes` events follow; each names
/// the version that it builds on (`since`) and its own as the event's id. A client that is too slow
/// gets `seats` again. `canceled` says once, in the client's language, that the date is canceled.
#[utoipa::path(get, path = "/api/schedules/{id}/seats/stream", operation_id = "stream_seats", tag = "catalog",
    params(("id" = ScheduleId, Path), ("Last-Event-ID" = Option<u64>, Header)),
    responses((status = 200, body = SeatStatus, content_type = "text/event-stream"),
              (status = 404, body = Problem), (status = 429, body = Problem)))]
pub(crate) async fn stream(
    State(app): State<App>,
    Id(schedule): Id<ScheduleId>,
    Network(network): Network,
    headers: HeaderMap,
) -> ApiResult<HotResponse> {
    let events = listen(&app, schedule, network, &ClientHeaders::of(&headers)).await?;
    Ok(HotResponse::Events(EventStream::Seats(Box::new(events))))
}

/// Opens a stream, on either transport.
pub(crate) async fn listen(
    app: &App,
    schedule: ScheduleId,
    network: IpAddr,
    headers: &ClientHeaders<'_>,
) -> ApiResult<SeatEvents> {
    let share = open_stream(app, network)?;
    let context = &app.context;
    // Subscribes before the first read, so that no change is missed in between.
    context.booking.seat_maps.snapshot(context, schedule).await?;
    let news = app.seat_feed.listen(context, &app.tasks, schedule);
    let snapshot = context.booking.seat_maps.snapshot(context, schedule).await?;
    let since = headers.last_event_id.and_then(|text| text.parse().ok());
    let is_called_off = is_canceled(context, schedule).await;
    let mut events = SeatEvents {
        app: app.clone(),
        schedule,
        news,
        version: snapshot.version,
        pieces: VecDeque::new(),
        language: headers.language(),
        is_behind: false,
        is_called_off,
        _share: share,
    };
    match since.and_then(|since| snapshot.changes_since(since)) {
        Some(changes) => events.say("changes", snapshot.version, changes),
        None => events.say_whole(&snapshot),
    }
    if is_called_off {
        events.say_canceled();
    }
    Ok(events)
}

/// Smaller data is copied into its event; larger data is shared by all listeners.
const COPIED_MAX: usize = 2 * 1_024;

const END_OF_EVENT: &[u8] = b"\n\n";

/// One listener.
pub(crate) struct SeatEvents {
    app: App,
    schedule: ScheduleId,
    news: Receiver<News>,
    /// The version that the client has.
    version: u64,
    /// The pieces to send next.
    pieces: VecDeque<Bytes>,
    language: Language,
    /// Whether the client needs the whole map instead of a backlog.
    is_behind: bool,
    /// Whether the client knows that the date is canceled.
    is_called_off: bool,
    _share: Share,
}

impl EventSource for SeatEvents {
    /// The next piece; `None` at shutdown.
    async fn next_event(&mut self) -> Option<Bytes> {
        loop {
            if let Some(piece) = self.pieces.pop_front() {
                return Some(piece);
            }
            if self.is_behind {
                // Rare; boxing keeps the future of every stream small.
                Box::pin(self.resync()).await?;
                continue;
            }
            match self.news.recv().await {
                // The client's first event included it.
                Ok(News::Changed(delta)) if delta.version <= self.version => {}
                Ok(News::Changed(delta)) if delta.since == self.version => {
                    self.version = delta.version;
                    self.say("changes", delta.version, delta.json.clone());
                }
                Ok(News::Canceled) if self.is_called_off => {}
                Ok(News::Canceled) => {
                    self.is_called_off = true;
                    self.say_canceled();
                }
                Ok(News::Changed(_) | News::Whole(_)) | Err(RecvError::Lagged(_)) => {
                    self.is_behind = true;
                }
                // The feed ends at shutdown.
                Err(RecvError::Closed) => return None,
            }
        }
    }
}

impl SeatEvents {
    /// Adds an event. Its data is JSON without line breaks.
    fn say(&mut self, name: &str, version: u64, data: Bytes) {
        let head = format!("event: {name}\nid: {version}\ndata: ");
        match data.len() {
            0..=COPIED_MAX => {
                let event = [head.as_bytes(), &data, END_OF_EVENT].concat();
                self.pieces.push_back(event.into());
            }
            _ => self.pieces.extend([head.into(), data, Bytes::from_static(END_OF_EVENT)]),
        }
    }

    fn say_whole(&mut self, snapshot: &Snapshot) {
        self.say("seats", snapshot.version, snapshot.json.clone());
    }

    /// Adds the `canceled` event.
    fn say_canceled(&mut self) {
        let error = ApiError::from(Refusal::ScheduleCanceled);
        let (_, detail) = error.told(self.language);
        let data = serde_json::json!({ "code": error.code(), "detail": detail });
        self.pieces.push_back(event("canceled", &data, ""));
    }

    /// Sends the whole map instead of a backlog.
    async fn resync(&mut self) -> Option<()> {
        self.news = self.news.resubscribe();
        let context = &self.app.context;
        let snapshot = context.booking.seat_maps.snapshot(context, self.schedule).await.ok()?;
        // The missed changes may include the cancellation.
        let is_news = !self.is_called_off && is_canceled(context, self.schedule).await;
        self.is_behind = false;
        self.version = snapshot.version;
        self.say_whole(&snapshot);
        if is_news {
            self.is_called_off = true;
            self.say_canceled();
        }
        Some(())
    }
}
