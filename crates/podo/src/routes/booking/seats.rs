//! Selecting, holding and releasing seats.

use crate::http::extract::{
    Bearer, Body, ClientHeaders, Fan, Id, PageParams, Params, key_of, page, text_of,
};
use crate::http::problem::{ApiResult, Problem};
use crate::http::respond::answer::HotResponse;
use crate::http::respond::idempotent::once;
use crate::routes::{App, AppState};
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use podo_app::booking::port::reservations::{Held, ReservationView};
use podo_app::booking::reservations;
use podo_app::booking::reservations::{BestWish, BookingSeat, SelectSeats};
use podo_app::operations::idempotency::{BEST, CANCEL_RESERVATION, SELECT, idempotency_key};
use podo_app::operations::port::idempotency::Idempotent;
use podo_app::payments;
use podo_app::payments::CancellationRequest;
use podo_app::payments::port::payments::Canceled;
use podo_app::store::Page;
use podo_domain::booking::best::Orphans;
use podo_domain::catalog::text::Line;
use podo_domain::payments::refunds::RefundTo;
use podo_domain::{ReservationId, ScheduleId, SeatId};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct SeatsParams {
    #[param(value_type = String, format = Uuid)]
    schedule_id: ScheduleId,
}

/// Only for the OpenAPI document: the list is written seat by seat.
#[derive(ToSchema)]
#[expect(dead_code, reason = "its fields only document the response")]
pub(crate) struct BookingSeats {
    seats: Vec<BookingSeat>,
}

/// Every seat with its price. The fan's own holds have a status of their own.
#[utoipa::path(get, path = "/api/booking/seats", tag = "booking",
    security(("accessToken" = [])), params(SeatsParams),
    responses((status = 200, body = BookingSeats), (status = 401, body = Problem),
              (status = 404, body = Problem)))]
pub(crate) async fn seats(
    State(app): State<App>,
    Fan(caller): Fan,
    Params(params): Params<SeatsParams>,
) -> ApiResult<Response> {
    let schedule = params.schedule_id;
    let view = reservations::booking_view(&app.context, caller.user, schedule).await?;
    let body = app.booking_lists.body(&app.context, schedule, view).await?;
    Ok(([(header::CONTENT_TYPE, "application/json")], body).into_response())
}

#[derive(Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct SelectBody {
    pub(crate) schedule_id: ScheduleId,
    #[schema(min_items = 1, max_items = 10)]
    pub(crate) seat_ids: Vec<SeatId>,
}

/// Holds one to ten seats, all or none, as far as the date and its phase permit. A lost race names the taken seats (`taken`) and suggests
/// others nearby (`alternatives`).
#[utoipa::path(post, path = "/api/booking/seats/select", tag = "booking",
    security(("accessToken" = [])), request_body = SelectBody,
    params(("Idempotency-Key" = String, Header), ("Entry-Token" = String, Header)),
    responses((status = 201, body = Held), (status = 400, body = Problem),
              (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn select(
    State(app): State<App>,
    bearer: Bearer,
    headers: HeaderMap,
    body: Body<SelectBody>,
) -> ApiResult<HotResponse> {
    let headers = ClientHeaders::of(&headers);
    select_seats(&app, &bearer, &body.value, &body.bytes, &headers).await.map(HotResponse::Held)
}

/// Holds seats, on either transport; the idempotency key covers the bytes of the body. That a seat
/// is taken is public, so this answers before it checks whether the session has ended; only a
/// request that may succeed pays for that check.
pub(crate) async fn select_seats(
    app: &AppState,
    bearer: &Bearer,
    body: &SelectBody,
    bytes: &[u8],
    headers: &ClientHeaders<'_>,
) -> ApiResult<Idempotent<Held>> {
    let context = &app.context;
    let asked = SelectSeats {
        key: idempotency_key(bearer.caller.user, SELECT, headers.idempotency_key, bytes)?,
        fan: bearer.caller,
        schedule: body.schedule_id,
        seats: &body.seat_ids,
        entry_token: headers.entry_token,
    };
    reservations::refuse_from_cache(context, &asked)?;
    bearer.confirm(app).await?;
    // Few requests get this far; boxing keeps the future of every connection small.
    Ok(Box::pin(reservations::select_seats(context, asked)).await?)
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct BestBody {
    schedule_id: ScheduleId,
    #[schema(minimum = 1, maximum = 10)]
    count: usize,
    /// All seats are of this grade; any single grade by default.
    #[serde(default)]
    grade: Option<String>,
    /// All seats are in this section; in a standing zone they are the lowest free numbers.
    #[serde(default)]
    section: Option<String>,
    /// Whether the selection may leave a single seat isolated; `LENIENT` by default.
    #[serde(default)]
    orphans: Orphans,
    /// Whether the party may be split over rows if there are no adjacent seats.
    #[serde(default)]
    across_rows: bool,
    /// How many of the fans need a wheelchair space; the others get companion seats.
    #[serde(default)]
    wheelchairs: usize,
}

/// Holds the best free seats: adjacent, nearest to the stage, and without isolating a single seat
/// where that can be avoided. If another fan is faster, the next best seats are tried.
#[utoipa::path(post, path = "/api/booking/seats/best", tag = "booking",
    security(("accessToken" = [])), request_body = BestBody,
    params(("Idempotency-Key" = String, Header), ("Entry-Token" = String, Header)),
    responses((status = 201, body = Held), (status = 400, body = Problem),
              (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn best(
    State(app): State<App>,
    Fan(caller): Fan,
    headers: HeaderMap,
    body: Body<BestBody>,
) -> ApiResult<Response> {
    let BestBody { schedule_id, count, orphans, across_rows, wheelchairs, .. } = body.value;
    let key = key_of(&headers, caller.user, BEST, &body.bytes)?;
    let asked = BestWish {
        fan: caller,
        schedule: schedule_id,
        count,
        grade: body.value.grade.as_deref(),
        section: body.value.section.as_deref(),
        orphans,
        across_rows,
        wheelchairs,
        entry_token: text_of(&headers, "entry-token"),
    };
    once(reservations::hold_best_seats(&app.context, key, asked).await?)
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct SuggestParams {
    #[param(value_type = String, format = Uuid)]
    schedule_id: ScheduleId,
    #[param(minimum = 1, maximum = 10)]
    count: usize,
    /// Seats of this grade in different rows; without it, the best of each grade.
    #[serde(default)]
    grade: Option<String>,
    /// All seats are in this section.
    #[serde(default)]
    section: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Suggestion {
    seat_ids: Vec<SeatId>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct Suggestions {
    /// At most three, the best first.
    items: Vec<Suggestion>,
}

/// Proposes the best free seats and holds none: they may be gone when they are selected.
#[utoipa::path(get, path = "/api/booking/seats/suggestions", tag = "booking",
    security(("accessToken" = [])),
    params(SuggestParams, ("Entry-Token" = String, Header)),
    responses((status = 200, body = Suggestions), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 422, body = Problem)))]
pub(crate) async fn suggest(
    State(app): State<App>,
    Fan(caller): Fan,
    headers: HeaderMap,
    Params(params): Params<SuggestParams>,
) -> ApiResult<Json<Suggestions>> {
    let asked = BestWish {
        fan: caller,
        schedule: params.schedule_id,
        count: params.count,
        grade: params.grade.as_deref(),
        section: params.section.as_deref(),
        orphans: Orphans::default(),
        across_rows: false,
        wheelchairs: 0,
        entry_token: text_of(&headers, "entry-token"),
    };
    let found = reservations::suggest_seats(&app.context, asked).await?;
    let items = found.into_iter().map(|seat_ids| Suggestion { seat_ids }).collect();
    Ok(Json(Suggestions { items }))
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ReleaseParams {
    #[param(value_type = String, format = Uuid)]
    reservation_id: ReservationId,
}

/// Releases held seats.
#[utoipa::path(delete, path = "/api/booking/seats/release", tag = "booking",
    security(("accessToken" = [])), params(ReleaseParams),
    responses((status = 204), (status = 401, body = Problem), (status = 404, body = Problem),
              (status = 409, body = Problem)))]
pub(crate) async fn release(
    State(app): State<App>,
    Fan(caller): Fan,
    Params(params): Params<ReleaseParams>,
) -> ApiResult<StatusCode> {
    reservations::release_seats(&app.context, caller.user, params.reservation_id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The fan's reservations, newest first.
#[utoipa::path(get, path = "/api/booking/reservations", tag = "booking",
    security(("accessToken" = [])), params(PageParams),
    responses((status = 200, body = Page<ReservationView>), (status = 401, body = Problem)))]
pub(crate) async fn my_reservations(
    State(app): State<App>,
    Fan(caller): Fan,
    Params(params): Params<PageParams>,
) -> ApiResult<Json<Page<ReservationView>>> {
    let page = page(params.limit, params.cursor)?;
    Ok(Json(reservations::my_reservations(&app.context, caller.user, page).await?))
}

/// One of the fan's reservations.
#[utoipa::path(get, path = "/api/booking/reservations/{id}", tag = "booking",
    security(("accessToken" = [])), params(("id" = ReservationId, Path)),
    responses((status = 200, body = ReservationView), (status = 401, body = Problem),
              (status = 404, body = Problem)))]
pub(crate) async fn my_reservation(
    State(app): State<App>,
    Fan(caller): Fan,
    Id(reservation): Id<ReservationId>,
) -> ApiResult<Json<ReservationView>> {
    Ok(Json(reservations::my_reservation(&app.context, caller.user, reservation).await?))
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CancelReservationBody {
    #[serde(default)]
    reason: Option<Line<200>>,
    /// The seats to cancel; all of them by default.
    #[serde(default)]
    #[schema(max_items = 10)]
    seat_ids: Vec<SeatId>,
    #[serde(default)]
    refund_to: RefundTo,
}

/// Cancels a paid reservation or some of its seats, and refunds it minus the fee of the event's
/// refund policy.
#[utoipa::path(post, path = "/api/booking/reservations/{id}/cancel", operation_id = "cancel_reservation", tag = "booking",
    security(("accessToken" = [])), request_body = CancelReservationBody,
    params(("id" = ReservationId, Path), ("Idempotency-Key" = String, Header)),
    responses((status = 200, body = Canceled), (status = 400, body = Problem),
              (status = 401, body = Problem), (status = 404, body = Problem),
              (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn cancel(
    State(app): State<App>,
    Fan(caller): Fan,
    Id(reservation): Id<ReservationId>,
    headers: HeaderMap,
    body: Body<CancelReservationBody>,
) -> ApiResult<Response> {
    // The idempotency key covers the path too.
    let content = [reservation.uuid().as_bytes().as_slice(), &body.bytes].concat();
    let key = key_of(&headers, caller.user, CANCEL_RESERVATION, &content)?;
    let CancelReservationBody { reason, seat_ids: seats, refund_to: to } = body.value;
    let reason = reason.map_or_else(|| "BY_FAN".to_owned(), String::from);
    let asked = CancellationRequest { key, fan: caller.user, reason, seats, to };
    once(payments::cancel_reservation(&app.context, reservation, asked).await?)
}
