//! The pages of the sandbox gateway: what a person chose there, and paid to its accounts.

use crate::http::extract::{Body, Id};
use crate::http::problem::{ApiResult, Problem};
use crate::routes::App;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use podo_adapters::gateways::sandbox::{Choice, NAME};
use podo_app::payments::gateway_webhooks;
use podo_app::payments::port::gateway::Delivery;
use podo_domain::{PaymentId, Refusal, Won};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChoiceBody {
    /// APPROVE, DECLINE, TIMEOUT, DUPLICATE or LATE.
    #[schema(value_type = String)]
    choice: Choice,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Chosen {
    payment_key: String,
}

/// Decides, as the sandbox gateway, what happens to an order.
#[utoipa::path(post, path = "/api/payment/sandbox/{id}", tag = "payment",
    request_body = ChoiceBody,
    params(("id" = String, Path, description = "The order id")),
    responses((status = 200, body = Chosen), (status = 404, body = Problem),
              (status = 422, body = Problem)))]
pub(crate) async fn choose(
    State(app): State<App>,
    Id(order): Id<String>,
    body: Body<ChoiceBody>,
) -> ApiResult<Json<Chosen>> {
    let payment = PaymentId::from_order_id(&order).ok_or(Refusal::NotFound)?;
    let now = app.context.now();
    let sandbox = app.sandbox.as_ref().ok_or(Refusal::NotFound)?;
    let payment_key = sandbox.choose(payment, body.value.choice, now).await?;
    Ok(Json(Chosen { payment_key }))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DepositBody {
    amount: Won,
}

/// Pays to a virtual account of the sandbox, as a bank would: any amount, also twice or late. The
/// sandbox then calls the webhook.
#[utoipa::path(post, path = "/api/payment/sandbox/{id}/deposit", tag = "payment",
    request_body = DepositBody,
    params(("id" = String, Path, description = "The order id")),
    responses((status = 204), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn deposit(
    State(app): State<App>,
    Id(order): Id<String>,
    body: Body<DepositBody>,
) -> ApiResult<StatusCode> {
    let payment = PaymentId::from_order_id(&order).ok_or(Refusal::NotFound)?;
    let now = app.context.now();
    let sandbox = app.sandbox.as_ref().ok_or(Refusal::NotFound)?;
    if !sandbox.deposit(payment, body.value.amount, now).await? {
        return Err(Refusal::NotFound.into());
    }
    let event = json!({ "id": app.context.rng.id(now), "orderId": order }).to_string();
    let delivery = Delivery { headers: &[], body: event.as_bytes(), now };
    if let Some(hint) = gateway_webhooks::receive(&app.context, NAME, &delivery).await? {
        gateway_webhooks::follow(&app.context, NAME, &hint.id, payment).await?;
    }
    Ok(StatusCode::NO_CONTENT)
}
