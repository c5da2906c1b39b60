//! Payments and cancellations.

use crate::http::extract::{Body, Fan, Id, OnDevice, key_of};
use crate::http::problem::{ApiResult, Problem};
use crate::http::respond::idempotent::{json, once, replay};
use crate::routes::App;
use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use podo_app::operations::idempotency::{CANCEL, CONFIRM, PAY_FROM_WALLET, REQUEST};
use podo_app::operations::port::idempotency::Idempotent;
use podo_app::payments;
use podo_app::payments::port::deposits::AwaitingDeposit;
use podo_app::payments::port::payments::{Canceled, Confirmed, PaymentReady, PaymentView};
use podo_app::payments::{
    CancellationRequest, ConfirmOutcome, ConfirmationRequest, PaymentRequest, WalletPaymentRequest,
};
use podo_domain::catalog::text::Line;
use podo_domain::payments::refunds::RefundTo;
use podo_domain::payments::{PaymentMethod, PaymentStatus};
use podo_domain::{Currency, PaymentId, ReservationId, SeatId, Won};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// The configured payment gateways, the default one first.
#[derive(Serialize, ToSchema)]
pub(crate) struct GatewayNames {
    gateways: Vec<&'static str>,
    /// By gateway, the methods that it takes.
    methods: BTreeMap<&'static str, &'static [PaymentMethod]>,
    /// By gateway, the currencies that it charges.
    currencies: BTreeMap<&'static str, &'static [Currency]>,
}

/// The gateways, and what each takes. An event offers only some of it.
#[utoipa::path(get, path = "/api/payment/gateways", tag = "payment",
    responses((status = 200, body = GatewayNames)))]
pub(crate) async fn gateways(State(app): State<App>) -> Json<GatewayNames> {
    let all = &app.context.payments.gateways;
    let gateways = all.iter().map(|gateway| gateway.name()).collect();
    let methods = all.iter().map(|gateway| (gateway.name(), gateway.methods())).collect();
    let currencies = all.iter().map(|gateway| (gateway.name(), gateway.currencies())).collect();
    Json(GatewayNames { gateways, methods, currencies })
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RequestBody {
    reservation_id: ReservationId,
    method: PaymentMethod,
    /// The payment gateway; by default the first of `GET /api/payment/gateways` that takes the
    /// method.
    #[serde(default)]
    gateway: Option<Line<20>>,
}

/// Prepares a payment: extends the hold to at least five more minutes, once.
#[utoipa::path(post, path = "/api/payment/request", tag = "payment",
    security(("accessToken" = [])), request_body = RequestBody,
    params(("Idempotency-Key" = String, Header)),
    responses((status = 201, body = PaymentReady), (status = 400, body = Problem),
              (status = 401, body = Problem), (status = 404, body = Problem),
              (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn request(
    State(app): State<App>,
    Fan(caller): Fan,
    OnDevice(device): OnDevice,
    headers: HeaderMap,
    body: Body<RequestBody>,
) -> ApiResult<Response> {
    let asked = PaymentRequest {
        key: key_of(&headers, caller.user, REQUEST, &body.bytes)?,
        fan: caller.user,
        reservation: body.value.reservation_id,
        method: body.value.method,
        gateway: body.value.gateway.as_ref().map(Line::as_str),
        device,
    };
    once(payments::request_payment(&app.context, asked).await?)
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct WalletPaymentBody {
    reservation_id: ReservationId,
    /// Must equal the reservation's amount.
    amount: Won,
}

/// Pays a reservation from the wallet in one call, instead of a request and its confirmation. A
/// retry with the same key has no further effect.
#[utoipa::path(post, path = "/api/payment/wallet", tag = "payment",
    security(("accessToken" = [])), request_body = WalletPaymentBody,
    params(("Idempotency-Key" = String, Header)),
    responses((status = 200, body = Confirmed), (status = 400, body = Problem),
              (status = 401, body = Problem), (status = 402, body = Problem),
              (status = 404, body = Problem), (status = 409, body = Problem),
              (status = 422, body = Problem)))]
pub(crate) async fn pay_from_wallet(
    State(app): State<App>,
    Fan(caller): Fan,
    headers: HeaderMap,
    body: Body<WalletPaymentBody>,
) -> ApiResult<Response> {
    let asked = WalletPaymentRequest {
        key: key_of(&headers, caller.user, PAY_FROM_WALLET, &body.bytes)?,
        fan: caller.user,
        reservation: body.value.reservation_id,
        amount: body.value.amount,
    };
    once(payments::pay_from_wallet(&app.context, asked).await?)
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ConfirmPaymentBody {
    payment_id: PaymentId,
    /// The gateway's key of the approved payment; not for the wallet.
    #[serde(default)]
    payment_key: Option<Line<300>>,
    /// Must equal the payment's amount.
    amount: Won,
}

/// The outcome is not known yet: poll the payment.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StillUnknown {
    payment_id: PaymentId,
    status: PaymentStatus,
    poll_after_ms: u32,
}

/// A payment that isn't made yet: its outcome is unknown, or a deposit is awaited.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only describes the two answers in the OpenAPI document")]
enum NotPaidYet {
    StillUnknown(StillUnknown),
    AwaitingDeposit(AwaitingDeposit),
}

/// Confirms the payment. For a virtual account this issues it. A retry with the same key has no further effect.
#[utoipa::path(post, path = "/api/payment/confirm", operation_id = "confirm_payment", tag = "payment",
    security(("accessToken" = [])), request_body = ConfirmPaymentBody,
    params(("Idempotency-Key" = String, Header)),
    responses((status = 200, body = Confirmed), (status = 202, body = NotPaidYet),
              (status = 400, body = Problem), (status = 401, body = Problem),
              (status = 402, body = Problem), (status = 404, body = Problem),
              (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn confirm(
    State(app): State<App>,
    Fan(caller): Fan,
    headers: HeaderMap,
    body: Body<ConfirmPaymentBody>,
) -> ApiResult<Response> {
    let asked = ConfirmationRequest {
        key: key_of(&headers, caller.user, CONFIRM, &body.bytes)?,
        fan: caller.user,
        payment: body.value.payment_id,
        payment_key: body.value.payment_key.map(String::from),
        amount: body.value.amount,
    };
    match payments::confirm_payment(&app.context, asked).await? {
        Idempotent::Replay(stored) => replay(stored),
        Idempotent::Fresh(ConfirmOutcome::Paid(confirmed)) => json(200, &confirmed),
        Idempotent::Fresh(ConfirmOutcome::Awaiting(awaiting)) => json(202, &awaiting),
        Idempotent::Fresh(ConfirmOutcome::Unknown(payment_id)) => {
            let status = PaymentStatus::Unknown;
            json(202, &StillUnknown { payment_id, status, poll_after_ms: 2_000 })
        }
    }
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CancelPaymentBody {
    payment_id: PaymentId,
    reason: Line<200>,
    /// The seats to cancel; all of them by default.
    #[serde(default)]
    #[schema(max_items = 10)]
    seat_ids: Vec<SeatId>,
    #[serde(default)]
    refund_to: RefundTo,
}

/// Cancels a payment or some of its seats, and refunds it minus the fee of the event's refund
/// policy.
#[utoipa::path(post, path = "/api/payment/cancel", operation_id = "cancel_payment", tag = "payment",
    security(("accessToken" = [])), request_body = CancelPaymentBody,
    params(("Idempotency-Key" = String, Header)),
    responses((status = 200, body = Canceled), (status = 400, body = Problem),
              (status = 401, body = Problem), (status = 404, body = Problem),
              (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn cancel(
    State(app): State<App>,
    Fan(caller): Fan,
    headers: HeaderMap,
    body: Body<CancelPaymentBody>,
) -> ApiResult<Response> {
    let key = key_of(&headers, caller.user, CANCEL, &body.bytes)?;
    let CancelPaymentBody { payment_id, reason, seat_ids: seats, refund_to: to } = body.value;
    let asked = CancellationRequest { key, fan: caller.user, reason: reason.into(), seats, to };
    once(payments::cancel_payment(&app.context, payment_id, asked).await?)
}

/// One of the fan's payments with its history.
#[utoipa::path(get, path = "/api/payment/{id}", tag = "payment",
    security(("accessToken" = [])), params(("id" = PaymentId, Path)),
    responses((status = 200, body = PaymentView), (status = 401, body = Problem),
              (status = 404, body = Problem)))]
pub(crate) async fn my_payment(
    State(app): State<App>,
    Fan(caller): Fan,
    Id(payment): Id<PaymentId>,
) -> ApiResult<Json<PaymentView>> {
    Ok(Json(payments::my_payment(&app.context, caller.user, payment).await?))
}
