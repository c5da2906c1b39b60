//! Payments and refunds that organisers resolve manually.

use crate::http::extract::permissions::{RefundPayments, ViewOrders};
use crate::http::extract::scope::OfPayment;
use crate::http::extract::{Audited, Body, Id, PathText, RecentAuth, guarded, key_of};
use crate::http::problem::{ApiResult, Problem};
use crate::http::respond::idempotent::{json, replay};
use crate::routes::App;
use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use podo_app::operations::idempotency::ADMIN_RESOLVE;
use podo_app::operations::port::idempotency::Idempotent;
use podo_app::payments::port::refunds::SecondNeeded;
use podo_app::payments::port::resolutions::{PaymentCase, Resolution, Resolved};
use podo_app::payments::resolutions;
use podo_app::payments::resolutions::ResolutionRequest;
use podo_domain::catalog::text::Line;
use podo_domain::payments::resolutions::Verdict;
use podo_domain::{PaymentId, RefundId, Refusal, Won};
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;

pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(guarded!(show))
        .routes(guarded!(resolve))
        .routes(guarded!(resolve_refund))
}

/// A payment or wallet charge, with its refunds and what blocks them.
#[utoipa::path(get, path = "/api/admin/payments/{id}", operation_id = "show_payment_admin", tag = "admin",
    security(("accessToken" = [])), params(("id" = PaymentId, Path)),
    responses((status = 200, body = PaymentCase), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn show(
    State(app): State<App>,
    _: Audited<ViewOrders, OfPayment>,
    Id(payment): Id<PaymentId>,
) -> ApiResult<Json<PaymentCase>> {
    Ok(Json(resolutions::payment_case(&app.context, payment).await?))
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ResolveBody {
    verdict: Verdict,
    /// The amount charged; the payment's amount by default. A different amount is refunded.
    #[serde(default)]
    amount: Option<Won>,
    /// The evidence: a page of the gateway, a letter from the bank. Recorded in the audit log.
    evidence: Line<500>,
}

/// Resolves a payment whose outcome the gateway doesn't report, at the earliest three minutes after
/// the request to it. Above a million won per payment, or per organiser and day, a second organiser
/// must confirm with the same request.
#[utoipa::path(post, path = "/api/admin/payments/{id}/resolve", tag = "admin",
    security(("accessToken" = [])), request_body = ResolveBody,
    params(("id" = PaymentId, Path), ("Idempotency-Key" = String, Header)),
    responses((status = 200, body = Resolved), (status = 202, body = SecondNeeded),
              (status = 400, body = Problem), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn resolve(
    State(app): State<App>,
    RecentAuth { actor, .. }: RecentAuth<RefundPayments, OfPayment>,
    Id(payment): Id<PaymentId>,
    headers: HeaderMap,
    body: Body<ResolveBody>,
) -> ApiResult<Response> {
    // The idempotency key covers the path too.
    let content = [payment.uuid().as_bytes().as_slice(), &body.bytes].concat();
    let key = key_of(&headers, actor, ADMIN_RESOLVE, &content)?;
    let ResolveBody { verdict, amount, evidence } = body.value;
    let asked = ResolutionRequest { key, actor, evidence: evidence.into() };
    answer(resolutions::resolve_payment(&app.context, payment, verdict, amount, asked).await?)
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ResolveRefundBody {
    /// How the money was returned. Recorded in the audit log.
    evidence: Line<500>,
}

/// Marks a refund as made that failed three times at the gateway, because the money was returned
/// another way. Above a million won per payment, or per organiser and day, a second organiser must
/// confirm with the same request.
#[utoipa::path(post, path = "/api/admin/payments/{id}/refunds/{refund}/resolve", tag = "admin",
    security(("accessToken" = [])), request_body = ResolveRefundBody,
    params(("id" = PaymentId, Path), ("refund" = RefundId, Path),
           ("Idempotency-Key" = String, Header)),
    responses((status = 200, body = Resolved), (status = 202, body = SecondNeeded),
              (status = 400, body = Problem), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn resolve_refund(
    State(app): State<App>,
    RecentAuth { actor, .. }: RecentAuth<RefundPayments, OfPayment>,
    path: (Id<PaymentId>, PathText),
    headers: HeaderMap,
    body: Body<ResolveRefundBody>,
) -> ApiResult<Response> {
    let (Id(payment), PathText(refund)) = path;
    let refund: RefundId = refund.parse().map_err(|_error| Refusal::NotFound)?;
    let ids = [payment.uuid().into_bytes(), refund.uuid().into_bytes()].concat();
    let content = [ids.as_slice(), &body.bytes].concat();
    let key = key_of(&headers, actor, ADMIN_RESOLVE, &content)?;
    let asked = ResolutionRequest { key, actor, evidence: body.value.evidence.into() };
    answer(resolutions::resolve_refund(&app.context, payment, refund, asked).await?)
}

fn answer(resolution: Idempotent<Resolution>) -> ApiResult<Response> {
    match resolution {
        Idempotent::Replay(stored) => replay(stored),
        Idempotent::Fresh(Resolution::Done { resolved, .. }) => json(200, &resolved),
        Idempotent::Fresh(Resolution::SecondNeeded(needed)) => json(202, &needed),
    }
}
