//! The organiser's server that says who is a member of a phase.

use crate::http::extract::permissions::ManageEvents;
use crate::http::extract::scope::OfPhase;
use crate::http::extract::{Audited, Body, Id, guarded};
use crate::http::problem::{ApiResult, Problem};
use crate::routes::App;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use podo_app::catalog::phases::member_webhook;
use podo_app::catalog::phases::member_webhook::MemberWebhookView;
use podo_app::messaging::webhook_endpoints::EndpointUrl;
use podo_domain::PhaseId;
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;

pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(guarded!(set_member_webhook))
        .routes(guarded!(rotate_member_webhook))
        .routes(guarded!(remove_member_webhook))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MemberWebhookBody {
    /// HTTPS, on the public internet.
    url: EndpointUrl,
}

/// Lets the organiser's server decide who is a member, instead of the list. Podo asks it with a
/// signed `POST` when a fan verifies; docs/messages.md describes question and answer. The first
/// response shows the secret, once.
#[utoipa::path(put, path = "/api/admin/phases/{id}/member-webhook", tag = "admin",
    security(("accessToken" = [])), params(("id" = PhaseId, Path)),
    request_body = MemberWebhookBody,
    responses((status = 200, body = MemberWebhookView), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 422, body = Problem)))]
pub(crate) async fn set_member_webhook(
    State(app): State<App>,
    Audited { actor, .. }: Audited<ManageEvents, OfPhase>,
    Id(phase): Id<PhaseId>,
    body: Body<MemberWebhookBody>,
) -> ApiResult<Json<MemberWebhookView>> {
    Ok(Json(member_webhook::set(&app.context, actor, phase, body.value.url).await?))
}

/// Rotates the secret. Questions are also signed with the old one until the next rotation.
#[utoipa::path(post, path = "/api/admin/phases/{id}/member-webhook/secret", tag = "admin",
    security(("accessToken" = [])), params(("id" = PhaseId, Path)),
    responses((status = 200, body = MemberWebhookView), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 409, body = Problem)))]
pub(crate) async fn rotate_member_webhook(
    State(app): State<App>,
    Audited { actor, .. }: Audited<ManageEvents, OfPhase>,
    Id(phase): Id<PhaseId>,
) -> ApiResult<Json<MemberWebhookView>> {
    Ok(Json(member_webhook::rotate_secret(&app.context, actor, phase).await?))
}

/// Lets the member list decide again. Fans who were confirmed stay verified.
#[utoipa::path(delete, path = "/api/admin/phases/{id}/member-webhook", tag = "admin",
    security(("accessToken" = [])), params(("id" = PhaseId, Path)),
    responses((status = 204), (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn remove_member_webhook(
    State(app): State<App>,
    Audited { actor, .. }: Audited<ManageEvents, OfPhase>,
    Id(phase): Id<PhaseId>,
) -> ApiResult<StatusCode> {
    member_webhook::remove(&app.context, actor, phase).await?;
    Ok(StatusCode::NO_CONTENT)
}
