//! The waiting room as a stream of server-sent events.

use super::{ScheduleParams, localise};
use crate::api::App;
use crate::api::error::{ApiError, ApiResult, Problem};
use crate::api::extract::{Network, Params, Poller, open_stream};
use crate::api::language::Language;
use crate::shares::Share;
use crate::streams::{Listener, Said};
use app::queue::{self, QueueView};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::IntoResponse;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures::stream::{self, Stream};
use std::convert::Infallible;
use std::time::Duration;

/// A line without meaning, so that nobody between us takes the silence for the end.
const HEARTBEAT_EVERY: Duration = Duration::from_secs(15);

/// Proxies hold back what they think is a page.
const UNBUFFERED: (HeaderName, HeaderValue) =
    (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));

/// The answers of `status` as server-sent events, whenever something changed. A `problem` event is
/// the last one and names the code; `bye` says that the server ends and when to come back.
#[utoipa::path(get, path = "/api/queue/stream", operation_id = "stream_queue", tag = "queue",
    security(("accessToken" = [])), params(ScheduleParams, ("Queue-Token" = Option<String>, Header)),
    responses((status = 200, body = QueueView, content_type = "text/event-stream"),
              (status = 401, body = Problem), (status = 404, body = Problem),
              (status = 429, body = Problem)))]
pub(in crate::api) async fn stream(
    State(app): State<App>,
    poller: Poller,
    Params(params): Params<ScheduleParams>,
    Network(network): Network,
    headers: HeaderMap,
) -> ApiResult<impl IntoResponse> {
    let share = open_stream(&app, network)?;
    let schedule = params.schedule_id;
    let asker =
        queue::asker(&app.platform, schedule, poller.caller, poller.place_token.as_deref())?;
    queue::check_pace(&app.platform, schedule, asker.fan)?;
    // Whoever is not in the queue is told so by the status, before anything is streamed.
    queue::status(&app.platform, asker, schedule).await?;
    let listener = Listener::start(&app.streams, &app.platform, &app.tasks, (schedule, asker))?;
    let events = events((listener, share), Language::of(&headers));
    let keep_alive = KeepAlive::new().interval(HEARTBEAT_EVERY);
    Ok(([UNBUFFERED], Sse::new(events).keep_alive(keep_alive)))
}

fn events(
    listener: (Listener, Share),
    language: Language,
) -> impl Stream<Item = Result<Event, Infallible>> + Send {
    stream::unfold(listener, move |mut listener| async move {
        let said = listener.0.next().await?;
        Some((Ok(event(said, language)), listener))
    })
}

fn event(said: Said, language: Language) -> Event {
    match said {
        Said::View(mut view) => {
            localise(&mut view, || language);
            data("message", &*view)
        }
        Said::Over(error) => {
            let code = ApiError::from(error).code();
            data("problem", &serde_json::json!({ "code": code }))
        }
        Said::Bye { retry_after_ms } => {
            data("bye", &serde_json::json!({ "retryAfterMs": retry_after_ms }))
                .retry(Duration::from_millis(retry_after_ms))
        }
    }
}

fn data(name: &str, value: &impl serde::Serialize) -> Event {
    let text = serde_json::to_string(value).expect("a view becomes JSON");
    Event::default().event(name).data(text)
}
