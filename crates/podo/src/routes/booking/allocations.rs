//! Seats that organisers keep from sale.

use crate::http::extract::permissions::{ManageAllocations, ViewEvents};
use crate::http::extract::scope::OfSchedule;
use crate::http::extract::{Allowed, Audited, Body, Id, LargeBody, PathText, Upload, guarded};
use crate::http::problem::{ApiError, ApiResult, Failure, Problem};
use crate::routes::App;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use podo_app::booking::allocations;
use podo_app::booking::port::allocations::{AllocatedSeat, AllocationView};
use podo_app::catalog::{LayoutView, show_layout};
use podo_domain::booking::allocations::{AllocationKind, AllocationTerms, KeepPick};
use podo_domain::booking::seats::{Seat, SeatFace};
use podo_domain::catalog::text::Line;
use podo_domain::{AllocationId, Refusal, ScheduleId, SeatId, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;

pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(guarded!(show_allocations))
        .routes(guarded!(show_hall_of_date))
        .routes(guarded!(create_allocation))
        .routes(guarded!(change_allocation))
        .routes(guarded!(keep_seats))
        .routes(guarded!(import_kept_seats))
        .routes(guarded!(release_kept_seats))
}

/// Largest file of seats: a stadium.
const FILE_MAX: usize = 4 * 1024 * 1024;

#[derive(Serialize, ToSchema)]
pub(crate) struct AllocationsView {
    /// Oldest first, with the released ones.
    items: Vec<AllocationView>,
    /// The seats of the allocations that aren't released, in layout order.
    seats: Vec<AllocatedSeat>,
    /// One letter per seat in layout order: `A` free, `H` held or resting, `S` sold, `K` kept.
    status: String,
}

/// The allocations of a date, with their seats.
#[utoipa::path(get, path = "/api/admin/schedules/{id}/allocations", tag = "admin",
    security(("accessToken" = [])), params(("id" = ScheduleId, Path)),
    responses((status = 200, body = AllocationsView), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn show_allocations(
    State(app): State<App>,
    _: Allowed<ViewEvents, OfSchedule>,
    Id(schedule): Id<ScheduleId>,
) -> ApiResult<Json<AllocationsView>> {
    let list = allocations::show_allocations(&app.context, schedule).await?;
    let letter = |seat: &Seat| match seat.face(list.now) {
        SeatFace::Kept => 'K',
        face @ (SeatFace::Available | SeatFace::Held | SeatFace::Sold) => face.letter().into(),
    };
    let status = list.hall.iter().map(letter).collect();
    Ok(Json(AllocationsView { items: list.allocations, seats: list.seats, status }))
}

/// The layout of a date, also of an event in preparation.
#[utoipa::path(get, path = "/api/admin/schedules/{id}/layout", tag = "admin",
    security(("accessToken" = [])), params(("id" = ScheduleId, Path)),
    responses((status = 200, body = LayoutView), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn show_hall_of_date(
    State(app): State<App>,
    _: Allowed<ViewEvents, OfSchedule>,
    Id(schedule): Id<ScheduleId>,
) -> ApiResult<Json<LayoutView>> {
    Ok(Json(show_layout(&app.context, schedule).await?))
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct AllocationBody {
    #[schema(value_type = String, max_length = 60)]
    name: Line<60>,
    kind: AllocationKind,
    #[serde(default)]
    #[schema(value_type = Option<String>, max_length = 200)]
    note: Option<Line<200>>,
    /// When the seats go on sale by themselves; before the sale ends. Not for `NEVER`.
    #[serde(default)]
    release_at: Option<Timestamp>,
    /// The first seats; only when the allocation is created.
    #[serde(default)]
    #[schema(max_items = 10_000)]
    seat_ids: Vec<SeatId>,
}

impl From<AllocationBody> for AllocationTerms {
    fn from(body: AllocationBody) -> AllocationTerms {
        let AllocationBody { name, kind, note, release_at, .. } = body;
        AllocationChangeBody { name, kind, note, release_at }.into()
    }
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct AllocationChangeBody {
    #[schema(value_type = String, max_length = 60)]
    name: Line<60>,
    kind: AllocationKind,
    #[serde(default)]
    #[schema(value_type = Option<String>, max_length = 200)]
    note: Option<Line<200>>,
    /// When the seats go on sale by themselves; before the sale ends. Not for `NEVER`.
    #[serde(default)]
    release_at: Option<Timestamp>,
}

impl From<AllocationChangeBody> for AllocationTerms {
    fn from(body: AllocationChangeBody) -> AllocationTerms {
        AllocationTerms {
            name: body.name.into(),
            kind: body.kind,
            note: body.note.map(String::from),
            release_at: body.release_at,
        }
    }
}

/// Creates an allocation, and keeps its first seats: all of them, or nothing is created.
#[utoipa::path(post, path = "/api/admin/schedules/{id}/allocations", tag = "admin",
    security(("accessToken" = [])), params(("id" = ScheduleId, Path)),
    request_body = AllocationBody,
    responses((status = 201, body = AllocationView), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn create_allocation(
    State(app): State<App>,
    Audited { actor, .. }: Audited<ManageAllocations, OfSchedule>,
    Id(schedule): Id<ScheduleId>,
    LargeBody(mut body): LargeBody<AllocationBody>,
) -> ApiResult<(StatusCode, Json<AllocationView>)> {
    let seats = std::mem::take(&mut body.seat_ids);
    let made =
        allocations::create_allocation(&app.context, actor, schedule, body.into(), &seats).await?;
    Ok((StatusCode::CREATED, Json(made)))
}

/// Replaces the name, the kind, the note and the time of release of an allocation.
#[utoipa::path(put, path = "/api/admin/schedules/{id}/allocations/{allocation}", tag = "admin",
    security(("accessToken" = [])),
    params(("id" = ScheduleId, Path), ("allocation" = AllocationId, Path)),
    request_body = AllocationChangeBody,
    responses((status = 200, body = AllocationView), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn change_allocation(
    State(app): State<App>,
    Audited { actor, .. }: Audited<ManageAllocations, OfSchedule>,
    Id(schedule): Id<ScheduleId>,
    PathText(allocation): PathText,
    body: Body<AllocationChangeBody>,
) -> ApiResult<Json<AllocationView>> {
    let (allocation, terms) = (read_allocation(&allocation)?, body.value.into());
    let changed = allocations::change_allocation(&app.context, actor, schedule, allocation, terms);
    Ok(Json(changed.await?))
}

fn read_allocation(text: &str) -> Result<AllocationId, Refusal> {
    text.parse().map_err(|_error| Refusal::NotFound)
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct KeepSeatsBody {
    #[schema(min_items = 1, max_items = 10_000)]
    seat_ids: Vec<SeatId>,
}

/// Keeps more seats from sale, all or none. Fans see them as not available. Seats that are held,
/// sold or kept by another allocation are refused with their list.
#[utoipa::path(post, path = "/api/admin/schedules/{id}/allocations/{allocation}/seats",
    tag = "admin", security(("accessToken" = [])),
    params(("id" = ScheduleId, Path), ("allocation" = AllocationId, Path)),
    request_body = KeepSeatsBody,
    responses((status = 200, body = AllocationView), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn keep_seats(
    State(app): State<App>,
    Audited { actor, .. }: Audited<ManageAllocations, OfSchedule>,
    Id(schedule): Id<ScheduleId>,
    PathText(allocation): PathText,
    LargeBody(body): LargeBody<KeepSeatsBody>,
) -> ApiResult<Json<AllocationView>> {
    let allocation = read_allocation(&allocation)?;
    let seats = KeepPick::new(schedule, &body.seat_ids)?;
    Ok(Json(allocations::keep_seats(&app.context, actor, allocation, seats).await?))
}

/// Keeps the seats of a CSV file, all or none. Its first line names the columns; the column `seat`
/// has the numbers of the seats. Wrong lines are refused with their list.
#[utoipa::path(post, path = "/api/admin/schedules/{id}/allocations/{allocation}/import",
    tag = "admin", security(("accessToken" = [])),
    params(("id" = ScheduleId, Path), ("allocation" = AllocationId, Path)),
    request_body(content = String, content_type = "text/csv"),
    responses((status = 200, body = AllocationView), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 408, body = Problem), (status = 409, body = Problem),
              (status = 413, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn import_kept_seats(
    State(app): State<App>,
    Audited { actor, .. }: Audited<ManageAllocations, OfSchedule>,
    Id(schedule): Id<ScheduleId>,
    PathText(allocation): PathText,
    mut upload: Upload,
) -> ApiResult<Json<AllocationView>> {
    let allocation = read_allocation(&allocation)?;
    let mut file = Vec::new();
    while let Some(bytes) = upload.next().await? {
        file.extend_from_slice(&bytes);
        if file.len() > FILE_MAX {
            return Err(Failure::BodyTooLarge.into());
        }
    }
    let text = String::from_utf8(file).map_err(|_error| not_utf8())?;
    Ok(Json(allocations::import_seats(&app.context, actor, schedule, allocation, &text).await?))
}

fn not_utf8() -> ApiError {
    Failure::Field { pointer: "seat".into(), problem: "not_utf8".into() }.into()
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ReleaseSeatsBody {
    /// The seats to release; absent for the whole allocation, which ends.
    #[serde(default)]
    #[schema(min_items = 1, max_items = 10_000)]
    seat_ids: Option<Vec<SeatId>>,
}

/// Puts kept seats on sale: some, all or none of them, or the whole allocation. Sold seats can't be
/// released; those of an allocation that ends go on sale when they come back.
#[utoipa::path(post, path = "/api/admin/schedules/{id}/allocations/{allocation}/release",
    tag = "admin", security(("accessToken" = [])),
    params(("id" = ScheduleId, Path), ("allocation" = AllocationId, Path)),
    request_body = ReleaseSeatsBody,
    responses((status = 200, body = AllocationView), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn release_kept_seats(
    State(app): State<App>,
    Audited { actor, .. }: Audited<ManageAllocations, OfSchedule>,
    Id(schedule): Id<ScheduleId>,
    PathText(allocation): PathText,
    LargeBody(body): LargeBody<ReleaseSeatsBody>,
) -> ApiResult<Json<AllocationView>> {
    let (context, seats) = (&app.context, body.seat_ids.as_deref());
    let allocation = read_allocation(&allocation)?;
    Ok(Json(allocations::release_seats(context, actor, schedule, allocation, seats).await?))
}
