//! The waiting room as a stream of server-sent events.

use crate::http::address_budgets::Share;
use crate::http::extract::{ClientHeaders, Network, Params, Poller, open_stream};
use crate::http::language::Language;
use crate::http::problem::{ApiError, ApiResult, Problem};
use crate::http::respond::answer::{EventStream, HotResponse};
use crate::http::respond::events::{EventSource, event};
use crate::routes::App;
use crate::routes::waiting_room::queue::{ScheduleParams, localise};
use crate::routes::waiting_room::streams::{Listener, StreamEvent};
use axum::extract::State;
use axum::http::HeaderMap;
use bytes::Bytes;
use podo_app::waiting_room;
use podo_app::waiting_room::QueueView;
use podo_domain::ScheduleId;
use serde_json::json;
use std::net::IpAddr;

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
) -> ApiResult<HotResponse> {
    let headers = ClientHeaders::of(&headers);
    let events = listen(&app, poller, params.schedule_id, &headers, network).await?;
    Ok(HotResponse::Events(EventStream::Queue(Box::new(events))))
}

/// Opens a stream, on either transport.
pub(crate) async fn listen(
    app: &App,
    poller: Poller,
    schedule: ScheduleId,
    headers: &ClientHeaders<'_>,
    network: IpAddr,
) -> ApiResult<QueueEvents> {
    let share = open_stream(app, network)?;
    let context = &app.context;
    let asker = waiting_room::asker(context, schedule, poller.caller, headers.place_token)?;
    waiting_room::check_pace(context, schedule, asker.fan)?;
    let asker = waiting_room::resolve(context, asker).await?;
    // A fan who isn't in the queue gets a problem response before the stream starts.
    waiting_room::status(context, asker, schedule).await?;
    let listener = Listener::start(&app.streams, context, &app.tasks, asker)?;
    Ok(QueueEvents { listener, language: headers.language(), _share: share })
}

/// One listening fan, in the fan's language.
pub(crate) struct QueueEvents {
    listener: Listener,
    language: Language,
    _share: Share,
}

impl EventSource for QueueEvents {
    async fn next_event(&mut self) -> Option<Bytes> {
        self.listener.next().await.map(|event| encode(event, self.language))
    }
}

fn encode(next: StreamEvent, language: Language) -> Bytes {
    match next {
        StreamEvent::View(mut view) => {
            localise(&mut view, || language);
            event("message", &*view, "")
        }
        StreamEvent::Over(error) => {
            event("problem", &json!({ "code": ApiError::from(error).code() }), "")
        }
        StreamEvent::Bye { retry_after_ms } => {
            let retry = format!("retry: {retry_after_ms}\n");
            event("bye", &json!({ "retryAfterMs": retry_after_ms }), &retry)
        }
    }
}
