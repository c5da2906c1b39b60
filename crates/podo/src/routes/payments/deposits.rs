//! Payments to virtual accounts: giving one up, and the bank account that refunds go to.

use crate::http::extract::{Body, Fan, Id};
use crate::http::problem::{ApiResult, Problem};
use crate::routes::App;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use podo_app::payments::deposits;
use podo_app::payments::deposits::RefundAccountView;
use podo_app::payments::port::payments::PaymentView;
use podo_domain::PaymentId;
use podo_domain::payments::deposits::RefundAccount;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(cancel_deposit))
        .routes(routes!(show_refund_account, set_refund_account))
}

/// Gives up an order that waits for a deposit. The gateway closes the account, then the seats are
/// freed; money that was faster is a ticket. A repeat has no further effect.
///
/// The payment still says `AWAITING_DEPOSIT` if the gateway doesn't answer: a job goes on.
#[utoipa::path(post, path = "/api/payment/{id}/deposit/cancel", tag = "payment",
    security(("accessToken" = [])), params(("id" = PaymentId, Path)),
    responses((status = 200, body = PaymentView), (status = 401, body = Problem),
              (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn cancel_deposit(
    State(app): State<App>,
    Fan(caller): Fan,
    Id(payment): Id<PaymentId>,
) -> ApiResult<Json<PaymentView>> {
    Ok(Json(deposits::cancel_deposit(&app.context, caller.user, payment).await?))
}

/// Where refunds of a deposit go, with the last digits of the account.
#[utoipa::path(get, path = "/api/payment/{id}/refund-account", tag = "payment",
    security(("accessToken" = [])), params(("id" = PaymentId, Path)),
    responses((status = 200, body = RefundAccountView), (status = 401, body = Problem),
              (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn show_refund_account(
    State(app): State<App>,
    Fan(caller): Fan,
    Id(payment): Id<PaymentId>,
) -> ApiResult<Json<RefundAccountView>> {
    Ok(Json(deposits::refund_account(&app.context, caller.user, payment).await?))
}

/// Names the bank account that refunds of a deposit go to. Refunds that wait for one are sent then.
#[utoipa::path(put, path = "/api/payment/{id}/refund-account", tag = "payment",
    security(("accessToken" = [])), params(("id" = PaymentId, Path)), request_body = RefundAccount,
    responses((status = 204), (status = 401, body = Problem), (status = 404, body = Problem),
              (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn set_refund_account(
    State(app): State<App>,
    Fan(caller): Fan,
    Id(payment): Id<PaymentId>,
    body: Body<RefundAccount>,
) -> ApiResult<StatusCode> {
    deposits::set_refund_account(&app.context, caller.user, payment, &body.value).await?;
    Ok(StatusCode::NO_CONTENT)
}
