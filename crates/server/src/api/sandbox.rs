//! The sandbox gateway's side of its pay page: what a person chose there.

use super::App;
use super::error::{ApiResult, Problem};
use super::extract::{Body, Id};
use adapters::gateways::sandbox::Choice;
use axum::Json;
use axum::extract::State;
use domain::{PaymentId, Refusal};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ChoiceBody {
    /// APPROVE, DECLINE, TIMEOUT, DUPLICATE or LATE.
    #[schema(value_type = String)]
    choice: Choice,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Chosen {
    payment_key: String,
}

/// Plays the payment company: decides what it will do with an order.
#[utoipa::path(post, path = "/api/payment/sandbox/{id}", tag = "payment",
    request_body = ChoiceBody,
    params(("id" = String, Path, description = "The order id")),
    responses((status = 200, body = Chosen), (status = 404, body = Problem),
              (status = 422, body = Problem)))]
pub(super) async fn choose(
    State(app): State<App>,
    Id(order): Id<String>,
    body: Body<ChoiceBody>,
) -> ApiResult<Json<Chosen>> {
    let payment = PaymentId::from_order_id(&order).ok_or(Refusal::NotFound)?;
    let now = app.platform.now();
    let sandbox = app.sandbox.as_ref().ok_or(Refusal::NotFound)?;
    let payment_key = sandbox.choose(payment, body.value.choice, now).await?;
    Ok(Json(Chosen { payment_key }))
}
