//! Choosing seats, holding them, giving them back.

use super::answer::once;
use super::error::{ApiResult, Problem};
use super::extract::{Bearer, Body, Fan, Id, PageParams, Params, key_of, page, text_of};
use super::{App, Shared};
use app::keys::{BEST, CANCEL_RESERVATION, SELECT};
use app::paging::Page;
use app::payments::{self, AskToCancel};
use app::ports::keys::Once;
use app::ports::payments::Canceled;
use app::ports::reservations::{Held, ReservationView};
use app::reservations::{self, BestSeats, BookingSeat, SelectSeats};
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use domain::best::Orphans;
use domain::refunds::RefundTo;
use domain::text::Line;
use domain::{ReservationId, ScheduleId, SeatId};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct SeatsParams {
    #[param(value_type = String, format = Uuid)]
    schedule_id: ScheduleId,
}

/// Only for the document: the list is written seat by seat.
#[derive(ToSchema)]
#[expect(dead_code, reason = "its fields are what the document shows")]
pub(super) struct BookingSeats {
    seats: Vec<BookingSeat>,
}

/// Every seat with its price; the fan's own holds are told apart from others'.
#[utoipa::path(get, path = "/api/booking/seats", tag = "booking",
    security(("accessToken" = [])), params(SeatsParams),
    responses((status = 200, body = BookingSeats), (status = 401, body = Problem),
              (status = 404, body = Problem)))]
pub(super) async fn seats(
    State(app): State<App>,
    Fan(caller): Fan,
    Params(params): Params<SeatsParams>,
) -> ApiResult<Response> {
    let schedule = params.schedule_id;
    let view = reservations::booking_view(&app.platform, caller.user, schedule).await?;
    let body = app.booking_lists.body(&app.platform, schedule, view).await?;
    Ok(([(header::CONTENT_TYPE, "application/json")], body).into_response())
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct SelectBody {
    pub(super) schedule_id: ScheduleId,
    #[schema(min_items = 1, max_items = 4)]
    pub(super) seat_ids: Vec<SeatId>,
}

/// Holds one to four seats, all or none. A lost race names the seats that are taken (`taken`) and
/// offers others nearby (`alternatives`).
#[utoipa::path(post, path = "/api/booking/seats/select", tag = "booking",
    security(("accessToken" = [])), request_body = SelectBody,
    params(("Idempotency-Key" = String, Header), ("Entry-Token" = String, Header)),
    responses((status = 201, body = Held), (status = 400, body = Problem),
              (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(super) async fn select(
    State(app): State<App>,
    bearer: Bearer,
    headers: HeaderMap,
    body: Body<SelectBody>,
) -> ApiResult<Response> {
    let asked = SelectSeats {
        key: key_of(&headers, bearer.caller.user, SELECT, &body.bytes)?,
        fan: bearer.caller,
        schedule: body.value.schedule_id,
        seats: &body.value.seat_ids,
        entry_token: text_of(&headers, "entry-token"),
    };
    once(hold(&app, &bearer, asked).await?)
}

/// That a seat is taken everybody may know, also somebody whose session has ended: whether it has is
/// asked only of those who may get one.
pub(super) async fn hold(
    shared: &Shared,
    bearer: &Bearer,
    asked: SelectSeats<'_>,
) -> ApiResult<Once<Held>> {
    let platform = &shared.platform;
    reservations::refuse_at_hand(platform, &asked)?;
    bearer.confirm(shared).await?;
    // Few come this far: what the rest needs is not kept for every connection.
    Ok(Box::pin(reservations::select_seats(platform, asked)).await?)
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct BestBody {
    schedule_id: ScheduleId,
    #[schema(minimum = 1, maximum = 4)]
    count: usize,
    /// Any grade when left out; all seats are of one.
    #[serde(default)]
    grade: Option<String>,
    /// Whether a single seat may be left over beside them; `LENIENT` when left out.
    #[serde(default)]
    orphans: Orphans,
    /// Whether the party may be split over rows when no seats together are left.
    #[serde(default)]
    across_rows: bool,
    /// How many of them need room for a wheelchair; the others get the companions' seats.
    #[serde(default)]
    wheelchairs: usize,
}

/// Holds the best free seats: together, nearest to the stage, no single seat left over where that
/// can be avoided. Whoever loses a race gets the next best.
#[utoipa::path(post, path = "/api/booking/seats/best", tag = "booking",
    security(("accessToken" = [])), request_body = BestBody,
    params(("Idempotency-Key" = String, Header), ("Entry-Token" = String, Header)),
    responses((status = 201, body = Held), (status = 400, body = Problem),
              (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(super) async fn best(
    State(app): State<App>,
    Fan(caller): Fan,
    headers: HeaderMap,
    body: Body<BestBody>,
) -> ApiResult<Response> {
    let BestBody { schedule_id, count, ref grade, orphans, across_rows, wheelchairs } = body.value;
    let asked = BestSeats {
        key: key_of(&headers, caller.user, BEST, &body.bytes)?,
        fan: caller,
        schedule: schedule_id,
        count,
        grade: grade.as_deref(),
        orphans,
        across_rows,
        wheelchairs,
        entry_token: text_of(&headers, "entry-token"),
    };
    once(reservations::hold_best_seats(&app.platform, asked).await?)
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ReleaseParams {
    #[param(value_type = String, format = Uuid)]
    reservation_id: ReservationId,
}

/// Gives held seats back.
#[utoipa::path(delete, path = "/api/booking/seats/release", tag = "booking",
    security(("accessToken" = [])), params(ReleaseParams),
    responses((status = 204), (status = 401, body = Problem), (status = 404, body = Problem),
              (status = 409, body = Problem)))]
pub(super) async fn release(
    State(app): State<App>,
    Fan(caller): Fan,
    Params(params): Params<ReleaseParams>,
) -> ApiResult<StatusCode> {
    reservations::release_seats(&app.platform, caller.user, params.reservation_id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The fan's reservations, newest first.
#[utoipa::path(get, path = "/api/booking/reservations", tag = "booking",
    security(("accessToken" = [])), params(PageParams),
    responses((status = 200, body = Page<ReservationView>), (status = 401, body = Problem)))]
pub(super) async fn my_reservations(
    State(app): State<App>,
    Fan(caller): Fan,
    Params(params): Params<PageParams>,
) -> ApiResult<Json<Page<ReservationView>>> {
    let page = page(params.limit, params.cursor)?;
    Ok(Json(reservations::my_reservations(&app.platform, caller.user, page).await?))
}

/// One reservation of the fan.
#[utoipa::path(get, path = "/api/booking/reservations/{id}", tag = "booking",
    security(("accessToken" = [])), params(("id" = ReservationId, Path)),
    responses((status = 200, body = ReservationView), (status = 401, body = Problem),
              (status = 404, body = Problem)))]
pub(super) async fn my_reservation(
    State(app): State<App>,
    Fan(caller): Fan,
    Id(reservation): Id<ReservationId>,
) -> ApiResult<Json<ReservationView>> {
    Ok(Json(reservations::my_reservation(&app.platform, caller.user, reservation).await?))
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct CancelReservationBody {
    #[serde(default)]
    reason: Option<Line<200>>,
    /// The seats to give back; all of them when left out.
    #[serde(default)]
    #[schema(max_items = 4)]
    seat_ids: Vec<SeatId>,
    #[serde(default)]
    refund_to: RefundTo,
}

/// Cancels a paid reservation or some of its seats; the money goes back, less what the event's
/// refund policy keeps.
#[utoipa::path(post, path = "/api/booking/reservations/{id}/cancel", operation_id = "cancel_reservation", tag = "booking",
    security(("accessToken" = [])), request_body = CancelReservationBody,
    params(("id" = ReservationId, Path), ("Idempotency-Key" = String, Header)),
    responses((status = 200, body = Canceled), (status = 400, body = Problem),
              (status = 401, body = Problem), (status = 404, body = Problem),
              (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(super) async fn cancel(
    State(app): State<App>,
    Fan(caller): Fan,
    Id(reservation): Id<ReservationId>,
    headers: HeaderMap,
    body: Body<CancelReservationBody>,
) -> ApiResult<Response> {
    // The path is part of what the key stands for.
    let content = [reservation.uuid().as_bytes().as_slice(), &body.bytes].concat();
    let key = key_of(&headers, caller.user, CANCEL_RESERVATION, &content)?;
    let CancelReservationBody { reason, seat_ids: seats, refund_to: to } = body.value;
    let reason = reason.map_or_else(|| "BY_FAN".to_owned(), String::from);
    let asked = AskToCancel { key, fan: caller.user, reason, seats, to };
    once(payments::cancel_reservation(&app.platform, reservation, asked).await?)
}
