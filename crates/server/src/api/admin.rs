//! What organisers do.

use super::App;
use super::error::{ApiResult, Problem};
use super::extract::{Admin, Body, Id};
use app::catalog::{self, NewEvent, NewSchedule, NewVenue};
use app::ports::catalog::EventVerb;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use domain::catalog::{EventStatus, ScheduleTimes, SeatTemplate};
use domain::queue::{QueueCounts, QueueSettings};
use domain::text::{Line, Prose};
use domain::{EventId, HallId, Refusal, ScheduleId, Timestamp, UserId, VenueId, Won};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(create_venue))
        .routes(routes!(create_hall))
        .routes(routes!(create_event))
        .routes(routes!(create_schedule))
        .routes(routes!(open_event))
        .routes(routes!(end_event))
        .routes(routes!(cancel_event))
        .routes(routes!(show_queue, change_queue))
        .routes(routes!(show_live))
}

/// The name of what was made.
#[derive(Serialize, ToSchema)]
pub(super) struct Made<T> {
    id: T,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct VenueBody {
    name: Line<200>,
    address: Line<300>,
    city: Line<100>,
}

/// Makes a venue.
#[utoipa::path(post, path = "/api/admin/venues", tag = "admin", security(("accessToken" = [])),
    request_body = VenueBody,
    responses((status = 201, body = Made<VenueId>), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 422, body = Problem)))]
pub(super) async fn create_venue(
    State(app): State<App>,
    Admin(actor): Admin,
    body: Body<VenueBody>,
) -> ApiResult<(StatusCode, Json<Made<VenueId>>)> {
    let VenueBody { name, address, city } = body.value;
    let asked = NewVenue { name, address, city };
    let id = catalog::create_venue(&app.platform, actor, asked).await?;
    Ok((StatusCode::CREATED, Json(Made { id })))
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct HallBody {
    name: Line<200>,
    seat_template: SeatTemplate,
}

#[derive(Serialize, ToSchema)]
pub(super) struct MadeHall {
    id: HallId,
    capacity: u32,
}

/// Makes a hall from a seat template.
#[utoipa::path(post, path = "/api/admin/venues/{id}/halls", tag = "admin",
    security(("accessToken" = [])), params(("id" = VenueId, Path)), request_body = HallBody,
    responses((status = 201, body = MadeHall), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(super) async fn create_hall(
    State(app): State<App>,
    Admin(actor): Admin,
    Id(venue): Id<VenueId>,
    body: Body<HallBody>,
) -> ApiResult<(StatusCode, Json<MadeHall>)> {
    let HallBody { name, seat_template } = body.value;
    let made = catalog::create_hall(&app.platform, actor, venue, name, seat_template).await?;
    let (id, capacity) = made;
    Ok((StatusCode::CREATED, Json(MadeHall { id, capacity })))
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct EventBody {
    title: Line<300>,
    artist: Line<200>,
    #[serde(default)]
    description: Prose<5000>,
    venue_id: VenueId,
    hall_id: HallId,
}

/// Makes an event; fans see it once it is opened.
#[utoipa::path(post, path = "/api/admin/events", tag = "admin", security(("accessToken" = [])),
    request_body = EventBody,
    responses((status = 201, body = Made<EventId>), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 422, body = Problem)))]
pub(super) async fn create_event(
    State(app): State<App>,
    Admin(actor): Admin,
    body: Body<EventBody>,
) -> ApiResult<(StatusCode, Json<Made<EventId>>)> {
    let EventBody { title, artist, description, venue_id: venue, hall_id: hall } = body.value;
    let asked = NewEvent { title, artist, description, venue, hall };
    let id = catalog::create_event(&app.platform, actor, asked).await?;
    Ok((StatusCode::CREATED, Json(Made { id })))
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ScheduleBody {
    starts_at: Timestamp,
    ends_at: Timestamp,
    sale_starts_at: Timestamp,
    sale_ends_at: Timestamp,
    /// The price of every grade in the hall.
    prices: BTreeMap<String, Won>,
    #[serde(default)]
    seats_per_person: Option<u32>,
    #[serde(default)]
    queue: Option<QueueSettings>,
}

#[derive(Serialize, ToSchema)]
pub(super) struct MadeSchedule {
    id: ScheduleId,
    seats: u32,
}

/// Makes a date of an event with all its seats.
#[utoipa::path(post, path = "/api/admin/events/{id}/schedules", tag = "admin",
    security(("accessToken" = [])), params(("id" = EventId, Path)), request_body = ScheduleBody,
    responses((status = 201, body = MadeSchedule), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(super) async fn create_schedule(
    State(app): State<App>,
    Admin(actor): Admin,
    Id(event): Id<EventId>,
    body: Body<ScheduleBody>,
) -> ApiResult<(StatusCode, Json<MadeSchedule>)> {
    let asked = body.value;
    let asked = NewSchedule {
        times: ScheduleTimes {
            starts_at: asked.starts_at,
            ends_at: asked.ends_at,
            sale_starts_at: asked.sale_starts_at,
            sale_ends_at: asked.sale_ends_at,
        },
        prices: asked.prices,
        seats_per_person: asked.seats_per_person.unwrap_or(4),
        queue: asked.queue.unwrap_or_default(),
    };
    let (id, seats) = catalog::create_schedule(&app.platform, actor, event, asked).await?;
    Ok((StatusCode::CREATED, Json(MadeSchedule { id, seats })))
}

#[derive(Serialize, ToSchema)]
pub(super) struct EventState {
    id: EventId,
    status: EventStatus,
}

async fn change(
    app: &App,
    actor: UserId,
    id: EventId,
    verb: EventVerb,
) -> ApiResult<Json<EventState>> {
    let status = catalog::change_event(&app.platform, actor, id, verb).await?;
    Ok(Json(EventState { id, status }))
}

/// Shows the event to fans.
#[utoipa::path(post, path = "/api/admin/events/{id}/open", tag = "admin",
    security(("accessToken" = [])), params(("id" = EventId, Path)),
    responses((status = 200, body = EventState), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 409, body = Problem)))]
pub(super) async fn open_event(
    State(app): State<App>,
    Admin(actor): Admin,
    Id(event): Id<EventId>,
) -> ApiResult<Json<EventState>> {
    change(&app, actor, event, EventVerb::Open).await
}

/// Ends the event: nothing more is sold.
#[utoipa::path(post, path = "/api/admin/events/{id}/end", tag = "admin",
    security(("accessToken" = [])), params(("id" = EventId, Path)),
    responses((status = 200, body = EventState), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 409, body = Problem)))]
pub(super) async fn end_event(
    State(app): State<App>,
    Admin(actor): Admin,
    Id(event): Id<EventId>,
) -> ApiResult<Json<EventState>> {
    change(&app, actor, event, EventVerb::End).await
}

/// Cancels the event: nothing more is sold.
#[utoipa::path(post, path = "/api/admin/events/{id}/cancel", tag = "admin",
    security(("accessToken" = [])), params(("id" = EventId, Path)),
    responses((status = 200, body = EventState), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 409, body = Problem)))]
pub(super) async fn cancel_event(
    State(app): State<App>,
    Admin(actor): Admin,
    Id(event): Id<EventId>,
) -> ApiResult<Json<EventState>> {
    change(&app, actor, event, EventVerb::Cancel).await
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
    catalog::change_queue(&app.platform, actor, schedule, settings.clone()).await?;
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
