//! Refund policies, refund previews, and organisers' refunds.

use crate::http::extract::permissions::{ManageEvents, RefundPayments, ViewEvents, ViewSales};
use crate::http::extract::scope::{OfEvent, OfPayment, OfSchedule};
use crate::http::extract::{Allowed, Audited, Body, Fan, Id, Params, RecentAuth, guarded, key_of};
use crate::http::problem::{ApiError, ApiResult, Failure, Problem};
use crate::http::respond::idempotent::{json, replay};
use crate::routes::App;
use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use podo_app::operations::idempotency::ADMIN_REFUND;
use podo_app::operations::port::idempotency::Idempotent;
use podo_app::payments::port::payments::Canceled;
use podo_app::payments::port::refunds::{RefundPreview, RefundRun, SecondNeeded};
use podo_app::payments::refunds;
use podo_app::payments::refunds::{RefundAnswer, RefundRequest};
use podo_domain::catalog::text::Line;
use podo_domain::payments::refund_policy::RefundPolicy;
use podo_domain::payments::refunds::RefundTo;
use podo_domain::{EventId, PaymentId, ReservationId, ScheduleId, SeatId};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(preview))
        .routes(guarded!(refund))
        .routes(guarded!(show_policy))
        .routes(guarded!(set_policy))
        .routes(guarded!(show_run))
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct PreviewParams {
    /// The seats to cancel, separated by commas; all of them by default.
    seat_ids: Option<String>,
}

/// Previews the refund of a cancellation; nothing is changed.
#[utoipa::path(get, path = "/api/booking/reservations/{id}/refund", operation_id = "preview_refund", tag = "booking",
    security(("accessToken" = [])), params(("id" = ReservationId, Path), PreviewParams),
    responses((status = 200, body = RefundPreview), (status = 401, body = Problem),
              (status = 404, body = Problem), (status = 409, body = Problem),
              (status = 422, body = Problem)))]
pub(crate) async fn preview(
    State(app): State<App>,
    Fan(caller): Fan,
    Id(reservation): Id<ReservationId>,
    Params(params): Params<PreviewParams>,
) -> ApiResult<Json<RefundPreview>> {
    let seats = read_seats(params.seat_ids.as_deref().unwrap_or_default())?;
    Ok(Json(refunds::preview(&app.context, caller.user, reservation, seats).await?))
}

fn read_seats(text: &str) -> ApiResult<Vec<SeatId>> {
    let parts = text.split(',').filter(|part| !part.is_empty());
    let seats: Result<Vec<SeatId>, _> = parts.map(str::parse).collect();
    seats.map_err(|_error| {
        let problem = "not_an_id".to_owned();
        ApiError::from(Failure::Field { pointer: "seatIds".into(), problem })
    })
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RefundBody {
    reason: Line<200>,
    /// The seats to refund; all of them by default.
    #[serde(default)]
    #[schema(max_items = 10)]
    seat_ids: Vec<SeatId>,
    /// The fee in percent, 0 to 90; 0 by default.
    #[serde(default)]
    #[schema(maximum = 90)]
    fee_percent: u32,
    /// Whether booking and order fees are refunded; by their own rules by default. The percentage
    /// doesn't apply to them.
    #[serde(default)]
    refund_fees: Option<bool>,
    #[serde(default)]
    refund_to: RefundTo,
}

/// Refunds a fan on the organiser's terms. Above a million won per payment, or per organiser and
/// day, a second organiser must confirm with the same request.
#[utoipa::path(post, path = "/api/admin/payments/{id}/refund", tag = "admin",
    security(("accessToken" = [])), request_body = RefundBody,
    params(("id" = PaymentId, Path), ("Idempotency-Key" = String, Header)),
    responses((status = 200, body = Canceled), (status = 202, body = SecondNeeded),
              (status = 400, body = Problem), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn refund(
    State(app): State<App>,
    RecentAuth { actor, .. }: RecentAuth<RefundPayments, OfPayment>,
    Id(payment): Id<PaymentId>,
    headers: HeaderMap,
    body: Body<RefundBody>,
) -> ApiResult<Response> {
    // The idempotency key covers the path too.
    let content = [payment.uuid().as_bytes().as_slice(), &body.bytes].concat();
    let key = key_of(&headers, actor, ADMIN_REFUND, &content)?;
    let RefundBody { reason, seat_ids: seats, fee_percent, refund_fees, refund_to: to } =
        body.value;
    if fee_percent > 90 {
        let problem = "out_of_range:0..90".to_owned();
        return Err(Failure::Field { pointer: "feePercent".into(), problem }.into());
    }
    let asked = RefundRequest {
        key,
        actor,
        reason: reason.into(),
        seats,
        fee_percent,
        refunds_fees: refund_fees,
        to,
    };
    match refunds::refund_by_organiser(&app.context, payment, asked).await? {
        Idempotent::Replay(stored) => replay(stored),
        Idempotent::Fresh(RefundAnswer::Made(canceled)) => json(200, &canceled),
        Idempotent::Fresh(RefundAnswer::SecondNeeded(needed)) => json(202, &needed),
    }
}

/// The refund policy of an event.
#[utoipa::path(get, path = "/api/admin/events/{id}/refund-policy", tag = "admin",
    security(("accessToken" = [])), params(("id" = EventId, Path)),
    responses((status = 200, body = RefundPolicy), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn show_policy(
    State(app): State<App>,
    _: Allowed<ViewEvents, OfEvent>,
    Id(event): Id<EventId>,
) -> ApiResult<Json<RefundPolicy>> {
    Ok(Json(refunds::policy_of(&app.context, event).await?))
}

/// Sets an event's refund policy: fees by days before the show, free cancellation after the booking,
/// and a last moment. Orders keep the policy under which their seats were held.
#[utoipa::path(put, path = "/api/admin/events/{id}/refund-policy", tag = "admin",
    security(("accessToken" = [])), params(("id" = EventId, Path)), request_body = RefundPolicy,
    responses((status = 200, body = RefundPolicy), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 422, body = Problem)))]
pub(crate) async fn set_policy(
    State(app): State<App>,
    Audited { actor, .. }: Audited<ManageEvents, OfEvent>,
    Id(event): Id<EventId>,
    body: Body<RefundPolicy>,
) -> ApiResult<Json<RefundPolicy>> {
    refunds::set_policy(&app.context, actor, event, body.value.clone()).await?;
    Ok(Json(body.value))
}

/// The progress of a canceled date's refunds.
#[utoipa::path(get, path = "/api/admin/schedules/{id}/refunds", tag = "admin",
    security(("accessToken" = [])), params(("id" = ScheduleId, Path)),
    responses((status = 200, body = RefundRun), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn show_run(
    State(app): State<App>,
    _: Allowed<ViewSales, OfSchedule>,
    Id(schedule): Id<ScheduleId>,
) -> ApiResult<Json<RefundRun>> {
    Ok(Json(refunds::run_of(&app.context, schedule).await?))
}
