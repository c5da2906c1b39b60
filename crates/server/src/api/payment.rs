//! Paying and getting money back.

use super::App;
use super::answer::{json, once, replay};
use super::error::{ApiResult, Problem};
use super::extract::{Body, Fan, Id, key_of};
use app::keys::{CANCEL, CONFIRM, REQUEST};
use app::payments::{self, AskToCancel, AskToConfirm, AskToPay, ConfirmOutcome};
use app::ports::keys::Once;
use app::ports::payments::{Canceled, Confirmed, PaymentReady, PaymentView};
use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use domain::payments::{PaymentMethod, PaymentStatus};
use domain::refunds::RefundTo;
use domain::text::Line;
use domain::{PaymentId, ReservationId, SeatId, Won};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The payment companies that are set up, the one that is taken when none is named first.
#[derive(Serialize, ToSchema)]
pub(super) struct GatewayNames {
    gateways: Vec<&'static str>,
}

/// Whom a card may be paid through here.
#[utoipa::path(get, path = "/api/payment/gateways", tag = "payment",
    responses((status = 200, body = GatewayNames)))]
pub(super) async fn gateways(State(app): State<App>) -> Json<GatewayNames> {
    let gateways = app.platform.gateways.iter().map(|gateway| gateway.name()).collect();
    Json(GatewayNames { gateways })
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct RequestBody {
    reservation_id: ReservationId,
    method: PaymentMethod,
    /// The payment company, for a card; the first of `GET /api/payment/gateways` when left out.
    #[serde(default)]
    gateway: Option<Line<20>>,
}

/// Prepares a payment: the seats stay for at least five more minutes, once.
#[utoipa::path(post, path = "/api/payment/request", tag = "payment",
    security(("accessToken" = [])), request_body = RequestBody,
    params(("Idempotency-Key" = String, Header)),
    responses((status = 201, body = PaymentReady), (status = 400, body = Problem),
              (status = 401, body = Problem), (status = 404, body = Problem),
              (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(super) async fn request(
    State(app): State<App>,
    Fan(caller): Fan,
    headers: HeaderMap,
    body: Body<RequestBody>,
) -> ApiResult<Response> {
    let asked = AskToPay {
        key: key_of(&headers, caller.user, REQUEST, &body.bytes)?,
        fan: caller.user,
        reservation: body.value.reservation_id,
        method: body.value.method,
        gateway: body.value.gateway.as_ref().map(Line::as_str),
    };
    once(payments::request_payment(&app.platform, asked).await?)
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ConfirmPaymentBody {
    payment_id: PaymentId,
    /// The gateway's name for what the fan approved; not for the wallet.
    #[serde(default)]
    payment_key: Option<Line<300>>,
    /// Must be the amount of the payment.
    amount: Won,
}

/// The outcome is not known yet: ask again for the payment.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct StillUnknown {
    payment_id: PaymentId,
    status: PaymentStatus,
    poll_after_ms: u32,
}

/// Pays. Repeating it with the same key does nothing twice.
#[utoipa::path(post, path = "/api/payment/confirm", operation_id = "confirm_payment", tag = "payment",
    security(("accessToken" = [])), request_body = ConfirmPaymentBody,
    params(("Idempotency-Key" = String, Header)),
    responses((status = 200, body = Confirmed), (status = 202, body = StillUnknown),
              (status = 400, body = Problem), (status = 401, body = Problem),
              (status = 402, body = Problem), (status = 404, body = Problem),
              (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(super) async fn confirm(
    State(app): State<App>,
    Fan(caller): Fan,
    headers: HeaderMap,
    body: Body<ConfirmPaymentBody>,
) -> ApiResult<Response> {
    let asked = AskToConfirm {
        key: key_of(&headers, caller.user, CONFIRM, &body.bytes)?,
        fan: caller.user,
        payment: body.value.payment_id,
        payment_key: body.value.payment_key.map(String::from),
        amount: body.value.amount,
    };
    match payments::confirm_payment(&app.platform, asked).await? {
        Once::Replay(stored) => replay(stored),
        Once::Fresh(ConfirmOutcome::Paid(confirmed)) => json(200, &confirmed),
        Once::Fresh(ConfirmOutcome::Unknown(payment_id)) => {
            let status = PaymentStatus::Unknown;
            json(202, &StillUnknown { payment_id, status, poll_after_ms: 2_000 })
        }
    }
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct CancelPaymentBody {
    payment_id: PaymentId,
    reason: Line<200>,
    /// The seats to give back; all of them when left out.
    #[serde(default)]
    #[schema(max_items = 4)]
    seat_ids: Vec<SeatId>,
    #[serde(default)]
    refund_to: RefundTo,
}

/// Cancels what was paid, or some of its seats; the money goes back, less what the event's refund
/// policy keeps.
#[utoipa::path(post, path = "/api/payment/cancel", operation_id = "cancel_payment", tag = "payment",
    security(("accessToken" = [])), request_body = CancelPaymentBody,
    params(("Idempotency-Key" = String, Header)),
    responses((status = 200, body = Canceled), (status = 400, body = Problem),
              (status = 401, body = Problem), (status = 404, body = Problem),
              (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(super) async fn cancel(
    State(app): State<App>,
    Fan(caller): Fan,
    headers: HeaderMap,
    body: Body<CancelPaymentBody>,
) -> ApiResult<Response> {
    let key = key_of(&headers, caller.user, CANCEL, &body.bytes)?;
    let CancelPaymentBody { payment_id, reason, seat_ids: seats, refund_to: to } = body.value;
    let asked = AskToCancel { key, fan: caller.user, reason: reason.into(), seats, to };
    once(payments::cancel_payment(&app.platform, payment_id, asked).await?)
}

/// One payment of the fan with its history.
#[utoipa::path(get, path = "/api/payment/{id}", tag = "payment",
    security(("accessToken" = [])), params(("id" = PaymentId, Path)),
    responses((status = 200, body = PaymentView), (status = 401, body = Problem),
              (status = 404, body = Problem)))]
pub(super) async fn my_payment(
    State(app): State<App>,
    Fan(caller): Fan,
    Id(payment): Id<PaymentId>,
) -> ApiResult<Json<PaymentView>> {
    Ok(Json(payments::my_payment(&app.platform, caller.user, payment).await?))
}
