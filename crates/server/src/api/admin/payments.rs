//! Payments and refunds that organisers end by hand.

use crate::api::App;
use crate::api::answer::{json, replay};
use crate::api::error::{ApiResult, Problem};
use crate::api::extract::{AuditedViewer, Body, Id, PathText, RequireRecentAuth, guarded, key_of};
use app::keys::ADMIN_RESOLVE;
use app::ports::keys::Once;
use app::ports::refunds::SecondNeeded;
use app::ports::resolutions::{PaymentCase, Resolution, Resolved};
use app::resolutions::{self, AskToResolve};
use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use domain::resolutions::Verdict;
use domain::text::Line;
use domain::{PaymentId, RefundId, Refusal, Won};
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(guarded!(show))
        .routes(guarded!(resolve))
        .routes(guarded!(resolve_refund))
}

/// A payment, or money on its way into a wallet, with its refunds and what stands in their way.
#[utoipa::path(get, path = "/api/admin/payments/{id}", operation_id = "show_payment_admin", tag = "admin",
    security(("accessToken" = [])), params(("id" = PaymentId, Path)),
    responses((status = 200, body = PaymentCase), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem)))]
pub(super) async fn show(
    State(app): State<App>,
    _: AuditedViewer,
    Id(payment): Id<PaymentId>,
) -> ApiResult<Json<PaymentCase>> {
    Ok(Json(resolutions::payment_case(&app.platform, payment).await?))
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ResolveBody {
    verdict: Verdict,
    /// What was charged; the payment's amount when left out. Another amount goes back.
    #[serde(default)]
    amount: Option<Won>,
    /// Where it stands: a page of the gateway, a letter of the bank. It is kept in the audit log.
    evidence: Line<500>,
}

/// Ends a payment whose outcome no gateway tells, three minutes after the gateway was asked at the
/// earliest. Beyond a million won per payment, or per organiser and day, nothing happens until a
/// second organiser says the same.
#[utoipa::path(post, path = "/api/admin/payments/{id}/resolve", tag = "admin",
    security(("accessToken" = [])), request_body = ResolveBody,
    params(("id" = PaymentId, Path), ("Idempotency-Key" = String, Header)),
    responses((status = 200, body = Resolved), (status = 202, body = SecondNeeded),
              (status = 400, body = Problem), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(super) async fn resolve(
    State(app): State<App>,
    RequireRecentAuth(actor): RequireRecentAuth,
    Id(payment): Id<PaymentId>,
    headers: HeaderMap,
    body: Body<ResolveBody>,
) -> ApiResult<Response> {
    // The path is part of what the key stands for.
    let content = [payment.uuid().as_bytes().as_slice(), &body.bytes].concat();
    let key = key_of(&headers, actor, ADMIN_RESOLVE, &content)?;
    let ResolveBody { verdict, amount, evidence } = body.value;
    let asked = AskToResolve { key, actor, evidence: evidence.into() };
    let said = (verdict, amount);
    answer(resolutions::resolve_payment(&app.platform, payment, said, asked).await?)
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ResolveRefundBody {
    /// How the money went back. It is kept in the audit log.
    evidence: Line<500>,
}

/// Counts a refund as made that the gateway failed to make three times: the money went back another
/// way. Beyond a million won per payment, or per organiser and day, nothing happens until a second
/// organiser says the same.
#[utoipa::path(post, path = "/api/admin/payments/{id}/refunds/{refund}/resolve", tag = "admin",
    security(("accessToken" = [])), request_body = ResolveRefundBody,
    params(("id" = PaymentId, Path), ("refund" = RefundId, Path),
           ("Idempotency-Key" = String, Header)),
    responses((status = 200, body = Resolved), (status = 202, body = SecondNeeded),
              (status = 400, body = Problem), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(super) async fn resolve_refund(
    State(app): State<App>,
    RequireRecentAuth(actor): RequireRecentAuth,
    path: (Id<PaymentId>, PathText),
    headers: HeaderMap,
    body: Body<ResolveRefundBody>,
) -> ApiResult<Response> {
    let (Id(payment), PathText(refund)) = path;
    let refund: RefundId = refund.parse().map_err(|_error| Refusal::NotFound)?;
    let ids = [payment.uuid().into_bytes(), refund.uuid().into_bytes()].concat();
    let content = [ids.as_slice(), &body.bytes].concat();
    let key = key_of(&headers, actor, ADMIN_RESOLVE, &content)?;
    let asked = AskToResolve { key, actor, evidence: body.value.evidence.into() };
    answer(resolutions::resolve_refund(&app.platform, (payment, refund), asked).await?)
}

fn answer(resolution: Once<Resolution>) -> ApiResult<Response> {
    match resolution {
        Once::Replay(stored) => replay(stored),
        Once::Fresh(Resolution::Done { resolved, .. }) => json(200, &resolved),
        Once::Fresh(Resolution::SecondNeeded(needed)) => json(202, &needed),
    }
}
