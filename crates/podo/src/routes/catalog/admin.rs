//! How organisers manage venues, events and their dates.

use crate::http::extract::permissions::{ManageEvents, ManageVenues, ViewEvents};
use crate::http::extract::scope::{OfEvent, OfSchedule, OwnEvents};
use crate::http::extract::{
    Allowed, Audited, Body, Id, PageParams, Params, RecentAuth, guarded, page,
};
use crate::http::problem::{ApiResult, Problem};
use crate::routes::App;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use podo_app::catalog;
use podo_app::catalog::port::{EventFilter, EventVerb, Unwanted};
use podo_app::catalog::{
    EventDetail, EventLine, NewSchedule, NewVenue, ScheduleView, VenueEdit, VenueView,
};
use podo_app::store::Page;
use podo_domain::booking::seats::SEATS_PER_ORDER;
use podo_domain::catalog::text::Line;
use podo_domain::catalog::{
    EventEdit, EventStatus, NewEvent, ResaleDelay, ScheduleChange, ScheduleTimes,
};
use podo_domain::waiting_room::QueueSettings;
use podo_domain::{EventId, HallId, ScheduleId, Timestamp, UserId, VenueId, Won};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use uuid::Uuid;

pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(guarded!(create_venue))
        .routes(guarded!(list_venues))
        .routes(guarded!(edit_venue))
        .routes(guarded!(remove_venue))
        .routes(guarded!(remove_hall))
        .routes(guarded!(create_event))
        .routes(guarded!(list_events))
        .routes(guarded!(show_event))
        .routes(guarded!(edit_event))
        .routes(guarded!(remove_event))
        .routes(guarded!(create_schedule))
        .routes(guarded!(change_schedule))
        .routes(guarded!(remove_schedule))
        .routes(guarded!(cancel_schedule))
        .routes(guarded!(open_event))
        .routes(guarded!(end_event))
        .routes(guarded!(cancel_event))
}

/// The id of the created object.
#[derive(Serialize, ToSchema)]
pub(crate) struct Made<T> {
    id: T,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct VenueBody {
    name: Line<200>,
    address: Line<300>,
    city: Line<100>,
    /// The IANA name of the time zone, such as `Europe/Berlin`; that of the settings by default.
    #[serde(default)]
    time_zone: Option<Line<64>>,
}

/// Creates a venue.
#[utoipa::path(post, path = "/api/admin/venues", tag = "admin", security(("accessToken" = [])),
    request_body = VenueBody,
    responses((status = 201, body = Made<VenueId>), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn create_venue(
    State(app): State<App>,
    Audited { actor, .. }: Audited<ManageVenues>,
    body: Body<VenueBody>,
) -> ApiResult<(StatusCode, Json<Made<VenueId>>)> {
    let VenueBody { name, address, city, time_zone } = body.value;
    let asked = NewVenue { name, address, city, time_zone };
    let id = catalog::create_venue(&app.context, actor, asked).await?;
    Ok((StatusCode::CREATED, Json(Made { id })))
}

/// Creates an event; fans see it once it is opened.
#[utoipa::path(post, path = "/api/admin/events", tag = "admin", security(("accessToken" = [])),
    request_body = NewEvent,
    responses((status = 201, body = Made<EventId>), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 422, body = Problem)))]
pub(crate) async fn create_event(
    State(app): State<App>,
    Audited { actor, .. }: Audited<ManageEvents>,
    body: Body<NewEvent>,
) -> ApiResult<(StatusCode, Json<Made<EventId>>)> {
    let id = catalog::create_event(&app.context, actor, body.value).await?;
    Ok((StatusCode::CREATED, Json(Made { id })))
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CreateScheduleBody {
    starts_at: Timestamp,
    ends_at: Timestamp,
    sale_starts_at: Timestamp,
    sale_ends_at: Timestamp,
    /// The price of every grade in the hall.
    prices: BTreeMap<String, Won>,
    #[serde(default)]
    seats_per_person: Option<u32>,
    /// Most seats in one order; 4 by default.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 10)]
    seats_per_order: Option<u32>,
    /// How long the seats of canceled bookings are withheld before they are sold again; not at all
    /// by default.
    #[serde(default)]
    resale_delay: Option<ResaleDelay>,
    #[serde(default)]
    queue: Option<QueueSettings>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct MadeSchedule {
    id: ScheduleId,
    seats: u32,
}

/// Creates a date of an event with all its seats.
#[utoipa::path(post, path = "/api/admin/events/{id}/schedules", tag = "admin",
    security(("accessToken" = [])), params(("id" = EventId, Path)), request_body = CreateScheduleBody,
    responses((status = 201, body = MadeSchedule), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn create_schedule(
    State(app): State<App>,
    Audited { actor, .. }: Audited<ManageEvents, OfEvent>,
    Id(event): Id<EventId>,
    body: Body<CreateScheduleBody>,
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
        seats_per_order: asked.seats_per_order.unwrap_or(SEATS_PER_ORDER),
        resale_delay: asked.resale_delay.unwrap_or_default(),
        queue: asked.queue.unwrap_or_default(),
    };
    let (id, seats) = catalog::create_schedule(&app.context, actor, event, asked).await?;
    Ok((StatusCode::CREATED, Json(MadeSchedule { id, seats })))
}

#[derive(Serialize, ToSchema)]
pub(crate) struct EventState {
    id: EventId,
    status: EventStatus,
}

async fn change(
    app: &App,
    actor: UserId,
    id: EventId,
    verb: EventVerb,
) -> ApiResult<Json<EventState>> {
    let status = catalog::change_event(&app.context, actor, id, verb).await?;
    Ok(Json(EventState { id, status }))
}

/// Shows the event to fans.
#[utoipa::path(post, path = "/api/admin/events/{id}/open", tag = "admin",
    security(("accessToken" = [])), params(("id" = EventId, Path)),
    responses((status = 200, body = EventState), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 409, body = Problem)))]
pub(crate) async fn open_event(
    State(app): State<App>,
    Audited { actor, .. }: Audited<ManageEvents, OfEvent>,
    Id(event): Id<EventId>,
) -> ApiResult<Json<EventState>> {
    change(&app, actor, event, EventVerb::Open).await
}

/// Ends the event: its sale stops.
#[utoipa::path(post, path = "/api/admin/events/{id}/end", tag = "admin",
    security(("accessToken" = [])), params(("id" = EventId, Path)),
    responses((status = 200, body = EventState), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 409, body = Problem)))]
pub(crate) async fn end_event(
    State(app): State<App>,
    Audited { actor, .. }: Audited<ManageEvents, OfEvent>,
    Id(event): Id<EventId>,
) -> ApiResult<Json<EventState>> {
    change(&app, actor, event, EventVerb::End).await
}

/// Cancels the event: its sale stops.
#[utoipa::path(post, path = "/api/admin/events/{id}/cancel", tag = "admin",
    security(("accessToken" = [])), params(("id" = EventId, Path)),
    responses((status = 200, body = EventState), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 409, body = Problem)))]
pub(crate) async fn cancel_event(
    State(app): State<App>,
    RecentAuth { actor, .. }: RecentAuth<ManageEvents, OfEvent>,
    Id(event): Id<EventId>,
) -> ApiResult<Json<EventState>> {
    change(&app, actor, event, EventVerb::Cancel).await
}

/// Venues with their halls, newest first.
#[utoipa::path(get, path = "/api/admin/venues", tag = "admin", security(("accessToken" = [])),
    params(PageParams),
    responses((status = 200, body = Page<VenueView>), (status = 401, body = Problem),
              (status = 403, body = Problem)))]
pub(crate) async fn list_venues(
    State(app): State<App>,
    _: Allowed<ViewEvents>,
    Params(params): Params<PageParams>,
) -> ApiResult<Json<Page<VenueView>>> {
    let page = page(params.limit, params.cursor)?;
    Ok(Json(catalog::list_venues(&app.context, page).await?))
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct VenuePatch {
    #[serde(default)]
    name: Option<Line<200>>,
    #[serde(default)]
    address: Option<Line<300>>,
    #[serde(default)]
    city: Option<Line<100>>,
    /// The IANA name of the time zone, such as `Asia/Seoul`.
    #[serde(default)]
    time_zone: Option<Line<64>>,
    /// Notifies fans with bookings for shows to come, who may then cancel without a fee. For a
    /// corrected spelling, leave it out.
    #[serde(default)]
    announce: bool,
}

/// Changes a venue; omitted fields keep their values.
#[utoipa::path(patch, path = "/api/admin/venues/{id}", tag = "admin",
    security(("accessToken" = [])), params(("id" = VenueId, Path)), request_body = VenuePatch,
    responses((status = 204), (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn edit_venue(
    State(app): State<App>,
    Audited { actor, .. }: Audited<ManageVenues>,
    Id(venue): Id<VenueId>,
    body: Body<VenuePatch>,
) -> ApiResult<StatusCode> {
    let VenuePatch { name, address, city, time_zone, announce } = body.value;
    let edit = VenueEdit { name, address, city, time_zone, announces: announce };
    catalog::edit_venue(&app.context, actor, venue, edit).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn remove(app: &App, actor: UserId, what: Unwanted) -> ApiResult<StatusCode> {
    catalog::remove(&app.context, actor, what).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Deletes a venue without halls.
#[utoipa::path(delete, path = "/api/admin/venues/{id}", tag = "admin",
    security(("accessToken" = [])), params(("id" = VenueId, Path)),
    responses((status = 204), (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn remove_venue(
    State(app): State<App>,
    Audited { actor, .. }: Audited<ManageVenues>,
    Id(venue): Id<VenueId>,
) -> ApiResult<StatusCode> {
    remove(&app, actor, Unwanted::Venue(venue)).await
}

/// Deletes a hall that no event uses.
#[utoipa::path(delete, path = "/api/admin/halls/{id}", tag = "admin",
    security(("accessToken" = [])), params(("id" = HallId, Path)),
    responses((status = 204), (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn remove_hall(
    State(app): State<App>,
    Audited { actor, .. }: Audited<ManageVenues>,
    Id(hall): Id<HallId>,
) -> ApiResult<StatusCode> {
    remove(&app, actor, Unwanted::Hall(hall)).await
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct AllEventsParams {
    /// Part of a title or an artist's name.
    #[param(value_type = Option<String>, max_length = 100)]
    query: Option<Line<100>>,
    status: Option<EventStatus>,
    /// Only events with a show from this moment on.
    #[param(value_type = Option<String>, format = DateTime)]
    from: Option<Timestamp>,
    /// Only events with a show before this moment.
    #[param(value_type = Option<String>, format = DateTime)]
    to: Option<Timestamp>,
    #[param(minimum = 1, maximum = 100)]
    limit: Option<u32>,
    cursor: Option<Uuid>,
}

/// All events, including those that fans don't see yet, newest first.
#[utoipa::path(get, path = "/api/admin/events", operation_id = "list_all_events", tag = "admin", security(("accessToken" = [])),
    params(AllEventsParams),
    responses((status = 200, body = Page<EventLine>), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn list_events(
    State(app): State<App>,
    Allowed { grant, .. }: Allowed<ViewEvents, OwnEvents>,
    Params(params): Params<AllEventsParams>,
) -> ApiResult<Json<Page<EventLine>>> {
    let page = page(params.limit, params.cursor)?;
    let filter = EventFilter {
        query: params.query.map(String::from),
        only: params.status,
        from: params.from,
        to: params.to,
        events: grant.events.only(),
        ..EventFilter::default()
    };
    Ok(Json(catalog::list_all_events(&app.context, filter, page).await?))
}

/// An event with its dates, in any state.
#[utoipa::path(get, path = "/api/admin/events/{id}", operation_id = "show_any_event", tag = "admin",
    security(("accessToken" = [])), params(("id" = EventId, Path)),
    responses((status = 200, body = EventDetail), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn show_event(
    State(app): State<App>,
    _: Allowed<ViewEvents, OfEvent>,
    Id(event): Id<EventId>,
) -> ApiResult<Json<EventDetail>> {
    Ok(Json(catalog::show_any_event(&app.context, event).await?))
}

/// Changes what is said about an event; omitted fields keep their values.
#[utoipa::path(patch, path = "/api/admin/events/{id}", tag = "admin",
    security(("accessToken" = [])), params(("id" = EventId, Path)), request_body = EventEdit,
    responses((status = 200, body = EventDetail), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 422, body = Problem)))]
pub(crate) async fn edit_event(
    State(app): State<App>,
    Audited { actor, .. }: Audited<ManageEvents, OfEvent>,
    Id(event): Id<EventId>,
    body: Body<EventEdit>,
) -> ApiResult<Json<EventDetail>> {
    Ok(Json(catalog::edit_event(&app.context, actor, event, body.value).await?))
}

/// Deletes an event without dates.
#[utoipa::path(delete, path = "/api/admin/events/{id}", tag = "admin",
    security(("accessToken" = [])), params(("id" = EventId, Path)),
    responses((status = 204), (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn remove_event(
    State(app): State<App>,
    Audited { actor, .. }: Audited<ManageEvents, OfEvent>,
    Id(event): Id<EventId>,
) -> ApiResult<StatusCode> {
    remove(&app, actor, Unwanted::Event(event)).await
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct SchedulePatch {
    #[serde(default)]
    starts_at: Option<Timestamp>,
    #[serde(default)]
    ends_at: Option<Timestamp>,
    #[serde(default)]
    sale_starts_at: Option<Timestamp>,
    #[serde(default)]
    sale_ends_at: Option<Timestamp>,
    #[serde(default)]
    seats_per_person: Option<u32>,
    #[serde(default)]
    #[schema(minimum = 1, maximum = 10)]
    seats_per_order: Option<u32>,
    #[serde(default)]
    prices: Option<BTreeMap<String, Won>>,
    #[serde(default)]
    resale_delay: Option<ResaleDelay>,
}

/// Changes a date; omitted fields keep their values. Once the sale has opened, its opening and its
/// prices are fixed, and the seats per person and per order can only be raised.
#[utoipa::path(patch, path = "/api/admin/schedules/{id}", tag = "admin",
    security(("accessToken" = [])), params(("id" = ScheduleId, Path)),
    request_body = SchedulePatch,
    responses((status = 200, body = ScheduleView), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn change_schedule(
    State(app): State<App>,
    Audited { actor, .. }: Audited<ManageEvents, OfSchedule>,
    Id(schedule): Id<ScheduleId>,
    body: Body<SchedulePatch>,
) -> ApiResult<Json<ScheduleView>> {
    let asked = body.value;
    let change = ScheduleChange {
        starts_at: asked.starts_at,
        ends_at: asked.ends_at,
        sale_starts_at: asked.sale_starts_at,
        sale_ends_at: asked.sale_ends_at,
        seats_per_person: asked.seats_per_person,
        seats_per_order: asked.seats_per_order,
        prices: asked.prices,
        resale_delay: asked.resale_delay,
    };
    Ok(Json(catalog::change_schedule(&app.context, actor, schedule, change).await?))
}

/// Deletes a date of which no seat was ever held.
#[utoipa::path(delete, path = "/api/admin/schedules/{id}", tag = "admin",
    security(("accessToken" = [])), params(("id" = ScheduleId, Path)),
    responses((status = 204), (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn remove_schedule(
    State(app): State<App>,
    Audited { actor, .. }: Audited<ManageEvents, OfSchedule>,
    Id(schedule): Id<ScheduleId>,
) -> ApiResult<StatusCode> {
    remove(&app, actor, Unwanted::Schedule(schedule)).await
}

/// Cancels a date: its sale stops, and all fans get a full refund.
#[utoipa::path(post, path = "/api/admin/schedules/{id}/cancel", tag = "admin",
    security(("accessToken" = [])), params(("id" = ScheduleId, Path)),
    responses((status = 200, body = ScheduleView), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn cancel_schedule(
    State(app): State<App>,
    RecentAuth { actor, .. }: RecentAuth<ManageEvents, OfSchedule>,
    Id(schedule): Id<ScheduleId>,
) -> ApiResult<Json<ScheduleView>> {
    Ok(Json(catalog::cancel_schedule(&app.context, actor, schedule).await?))
}
