//! How organisers run a queue and watch the sale.

use crate::http::extract::permissions::{RunWaitingRoom, ViewEvents, ViewPeople, ViewSales};
use crate::http::extract::scope::OfSchedule;
use crate::http::extract::{Allowed, Audited, Body, Id, Params, SessionLife, guarded, page_limit};
use crate::http::problem::{ApiResult, Failure, Problem};
use crate::routes::App;
use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures::stream;
use podo_app::catalog;
use podo_app::catalog::port::GradeSales;
use podo_app::store::{Order, Page};
use podo_app::waiting_room;
use podo_app::waiting_room::{PlaceLine, PlacesAsked};
use podo_domain::waiting_room::{PlaceNumber, QueueSettings};
use podo_domain::{Refusal, ScheduleId, Timestamp, UserId, Won};
use serde::{Deserialize, Serialize};
use std::convert::Infallible;
use std::time::Duration;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;

pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(guarded!(show_queue))
        .routes(guarded!(change_queue))
        .routes(guarded!(show_live))
        .routes(guarded!(stream_live))
        .routes(guarded!(show_history))
}

/// The queue settings of a schedule.
#[utoipa::path(get, path = "/api/admin/schedules/{id}/queue", tag = "admin",
    security(("accessToken" = [])), params(("id" = ScheduleId, Path)),
    responses((status = 200, body = QueueSettings), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn show_queue(
    State(app): State<App>,
    _: Allowed<ViewEvents, OfSchedule>,
    Id(schedule): Id<ScheduleId>,
) -> ApiResult<Json<QueueSettings>> {
    let record = app.context.store.schedule(schedule).await?.ok_or(Refusal::NotFound)?;
    Ok(Json(record.queue))
}

/// Changes a schedule's queue settings: mode, cap, rate, message to all waiting fans.
#[utoipa::path(put, path = "/api/admin/schedules/{id}/queue", tag = "admin",
    security(("accessToken" = [])), params(("id" = ScheduleId, Path)),
    request_body = QueueSettings,
    responses((status = 200, body = QueueSettings), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 422, body = Problem)))]
pub(crate) async fn change_queue(
    State(app): State<App>,
    Audited { actor, .. }: Audited<RunWaitingRoom, OfSchedule>,
    Id(schedule): Id<ScheduleId>,
    body: Body<QueueSettings>,
) -> ApiResult<Json<QueueSettings>> {
    let settings = body.value;
    catalog::change_queue(&app.context, actor, schedule, settings.clone()).await?;
    Ok(Json(settings))
}

/// The state of a sale. Latencies and errors are those of this node.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LiveView {
    settings: QueueSettings,
    gathered: u64,
    waiting: u64,
    active: u64,
    admitted: u64,
    admitted_per_second: f64,
    /// The share of the admission rate that remains while this node is overloaded, in percent.
    admit_percent: u32,
    /// Fans who left the queue or gave up their entry.
    left: u64,
    /// Expired entries.
    expired: u64,
    available: u32,
    held: u32,
    sold: u32,
    /// Kept from sale by allocations.
    kept: u32,
    revenue: Won,
    grades: Vec<GradeView>,
    /// The p99 latency of booking and payment calls over at least the last five seconds.
    p99_ms: u64,
    /// The share of them that failed with a server error, 0 to 1.
    error_ratio: f64,
    /// Open streams of waiting fans.
    streams: u64,
    now: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GradeView {
    grade: String,
    available: u32,
    held: u32,
    sold: u32,
    /// Kept from sale by allocations.
    kept: u32,
    revenue: Won,
}

impl From<GradeSales> for GradeView {
    fn from(sales: GradeSales) -> GradeView {
        let GradeSales { grade, available, held, sold, kept, revenue } = sales;
        GradeView { grade, available, held, sold, kept, revenue }
    }
}

/// The current state of a schedule's queue and seats.
#[utoipa::path(get, path = "/api/admin/schedules/{id}/live", tag = "admin",
    security(("accessToken" = [])), params(("id" = ScheduleId, Path)),
    responses((status = 200, body = LiveView), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn show_live(
    State(app): State<App>,
    _: Allowed<ViewSales, OfSchedule>,
    Id(schedule): Id<ScheduleId>,
) -> ApiResult<Json<LiveView>> {
    Ok(Json(live(&app, schedule).await?))
}

async fn live(app: &App, schedule: ScheduleId) -> podo_app::Result<LiveView> {
    let context = &app.context;
    let now = context.now();
    let record = context.store.schedule(schedule).await?.ok_or(Refusal::NotFound)?;
    let counts = context.waiting_room.queue.counts(record.room_at(now), now).await?;
    let grades = context.store.seats_by_grade(schedule, now).await?;
    let health = context.operations.latency_window.health(now);
    let sum = |of: fn(&GradeSales) -> u32| grades.iter().map(of).sum();
    Ok(LiveView {
        settings: record.queue,
        gathered: counts.gathered,
        waiting: counts.waiting,
        active: counts.inside,
        admitted: counts.admitted,
        admitted_per_second: counts.admitted_per_second,
        admit_percent: context.operations.latency_window.percent(context.now()),
        left: counts.left,
        expired: counts.expired,
        available: sum(|grade| grade.available),
        held: sum(|grade| grade.held),
        sold: sum(|grade| grade.sold),
        kept: sum(|grade| grade.kept),
        revenue: Won::sum(grades.iter().map(|grade| grade.revenue)).unwrap_or(Won::MAX),
        grades: grades.into_iter().map(GradeView::from).collect(),
        p99_ms: health.p99_ms,
        error_ratio: health.failed_per_mille as f64 / 1_000.0,
        streams: app.streams.n_open(),
        now,
    })
}

/// The same as server-sent events, once a second if something has changed. Ends with the session.
#[utoipa::path(get, path = "/api/admin/schedules/{id}/live/stream", tag = "admin",
    security(("accessToken" = [])), params(("id" = ScheduleId, Path)),
    responses((status = 200, body = LiveView, content_type = "text/event-stream"),
              (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 404, body = Problem)))]
pub(crate) async fn stream_live(
    State(app): State<App>,
    _: Allowed<ViewSales, OfSchedule>,
    session: SessionLife,
    Id(schedule): Id<ScheduleId>,
) -> ApiResult<impl IntoResponse> {
    live(&app, schedule).await?;
    let watcher = Watcher { app, session, schedule, last: None };
    let events = stream::unfold(watcher, |mut watcher| async move {
        let event = watcher.next().await?;
        Some((Ok::<_, Infallible>(event), watcher))
    });
    let heartbeat = KeepAlive::new().interval(Duration::from_secs(15));
    Ok(([("x-accel-buffering", "no")], Sse::new(events).keep_alive(heartbeat)))
}

/// A watching organiser.
struct Watcher {
    app: App,
    session: SessionLife,
    schedule: ScheduleId,
    last: Option<LiveView>,
}

impl Watcher {
    /// The next change; `None` if the session or the process ends, or an engine is unavailable: the
    /// page reconnects.
    async fn next(&mut self) -> Option<Event> {
        loop {
            let is_first = self.last.is_none();
            let pause = Duration::from_secs(u64::from(!is_first));
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = self.app.tasks.stopped() => return None,
            }
            if self.session.is_over(&self.app).await {
                return None;
            }
            let view = live(&self.app, self.schedule).await.ok()?;
            let same = self.last.as_ref().map(|last| LiveView { now: view.now, ..last.clone() });
            if same.as_ref() != Some(&view) {
                let text = serde_json::to_string(&view).expect("the view serializes as JSON");
                self.last = Some(view);
                return Some(Event::default().data(text));
            }
        }
    }
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct HistoryParams {
    /// Only this fan.
    #[param(value_type = Option<String>, format = Uuid)]
    user_id: Option<UserId>,
    #[param(minimum = 1, maximum = 100)]
    limit: Option<u32>,
    /// By number; of one fan always the latest first.
    #[serde(default)]
    #[param(inline)]
    order: Order,
    /// `nextCursor` of the previous page.
    #[param(minimum = 1, maximum = 9007199254740992_u64)]
    cursor: Option<PlaceNumber>,
}

/// All admitted fans by number, the latest first by default: when, until when, and how the entry ended.
#[utoipa::path(get, path = "/api/admin/schedules/{id}/queue/history", tag = "admin",
    security(("accessToken" = [])), params(("id" = ScheduleId, Path), HistoryParams),
    responses((status = 200, body = Page<PlaceLine>), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn show_history(
    State(app): State<App>,
    _: Audited<ViewPeople, OfSchedule>,
    Id(schedule): Id<ScheduleId>,
    Params(params): Params<HistoryParams>,
) -> ApiResult<Json<Page<PlaceLine>>> {
    // A double represents place numbers exactly up to here.
    if params.cursor.is_some_and(|cursor| !(1..=1 << 53).contains(&cursor)) {
        let problem = "out_of_range:1..9007199254740992".to_owned();
        return Err(Failure::Field { pointer: "cursor".into(), problem }.into());
    }
    let HistoryParams { user_id: fan, order, cursor, limit } = params;
    let asked = PlacesAsked { fan, order, cursor, limit: page_limit(limit)? };
    Ok(Json(waiting_room::places_in(&app.context, schedule, asked).await?))
}
