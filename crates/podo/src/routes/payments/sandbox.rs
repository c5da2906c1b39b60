//! The pay page of the sandbox gateway: what a person chose there.

use crate::http::extract::{Body, Id};
use crate::http::problem::{ApiResult, Problem};
use crate::routes::App;
use axum::Json;
use axum::extract::State;
use podo_adapters::gateways::sandbox::Choice;
use podo_domain::{PaymentId, Refusal};
use serde::{Deserialize, Serialize};
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
