//! The waiting room as a stream of server-sent events.

use crate::http::address_budgets::Share;
use crate::http::extract::{Network, Params, Poller, open_stream};
use crate::http::language::Language;
use crate::http::problem::{ApiError, ApiResult, Problem};
use crate::routes::App;
use crate::routes::waiting_room::queue::{ScheduleParams, localise};
use crate::routes::waiting_room::streams::{Listener, StreamEvent};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::IntoResponse;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures::stream::{self, Stream};
use podo_app::waiting_room;
use podo_app::waiting_room::QueueView;
use std::convert::Infallible;
use std::time::Duration;

/// An empty comment, so that proxies don't time out.
const HEARTBEAT_EVERY: Duration = Duration::from_secs(15);

/// Keeps proxies from buffering the stream.
const UNBUFFERED: (HeaderName, HeaderValue) =
    (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));

/// The responses of `status` as server-sent events, whenever something has changed. A `problem`
/// event is the last one and contains the code; `bye` announces a shutdown and when to reconnect.
#[utoipa::path(get, path = "/api/queue/stream", operation_id = "stream_queue", tag = "queue",
    security(("accessToken" = [])), params(ScheduleParams, ("Queue-Token" = Option<String>, Header)),
    responses((status = 200, body = QueueView, content_type = "text/event-stream"),
              (status = 401, body = Problem), (status = 404, body = Problem),
              (status = 429, body = Problem)))]
pub(crate) async fn stream(
    State(app): State<App>,
    poller: Poller,
    Params(params): Params<ScheduleParams>,
    Network(network): Network,
    headers: HeaderMap,
) -> ApiResult<impl IntoResponse> {
    let share = open_stream(&app, network)?;
    let schedule = params.schedule_id;
    let asker =
        waiting_room::asker(&app.context, schedule, poller.caller, poller.place_token.as_deref())?;
    waiting_room::check_pace(&app.context, schedule, asker.fan)?;
    // A fan who isn't in the queue gets a problem response before the stream starts.
    waiting_room::status(&app.context, asker, schedule).await?;
    let listener = Listener::start(&app.streams, &app.context, &app.tasks, (schedule, asker))?;
    let events = events((listener, share), Language::of(&headers));
    let keep_alive = KeepAlive::new().interval(HEARTBEAT_EVERY);
    Ok(([UNBUFFERED], Sse::new(events).keep_alive(keep_alive)))
}

fn events(
    listener: (Listener, Share),
    language: Language,
) -> impl Stream<Item = Result<Event, Infallible>> + Send {
    stream::unfold(listener, move |mut listener| async move {
        let event = listener.0.next().await?;
        Some((Ok(encode(event, language)), listener))
    })
}

fn encode(event: StreamEvent, language: Language) -> Event {
    match event {
        StreamEvent::View(mut view) => {
            localise(&mut view, || language);
            data("message", &*view)
        }
        StreamEvent::Over(error) => {
            let code = ApiError::from(error).code();
            data("problem", &serde_json::json!({ "code": code }))
        }
        StreamEvent::Bye { retry_after_ms } => {
            data("bye", &serde_json::json!({ "retryAfterMs": retry_after_ms }))
                .retry(Duration::from_millis(retry_after_ms))
        }
    }
}

fn data(name: &str, value: &impl serde::Serialize) -> Event {
    let text = serde_json::to_string(value).expect("the view serializes as JSON");
    Event::default().event(name).data(text)
}
