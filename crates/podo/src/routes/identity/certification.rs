//! Identity verification.

use crate::http::extract::{Body, Fan};
use crate::http::problem::{ApiResult, Problem};
use crate::routes::App;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use podo_app::identity::accounts;
use podo_app::identity::accounts::{IdentityStart, UserView};
use podo_domain::catalog::text::Line;
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(start)).routes(routes!(prove))
}

/// Starts a verification; returns what the provider's window in the browser needs.
#[utoipa::path(post, path = "/api/users/me/identity/start", operation_id = "start_identity_check", tag = "accounts",
    security(("accessToken" = [])),
    responses((status = 201, body = IdentityStart), (status = 401, body = Problem),
              (status = 409, body = Problem)))]
pub(crate) async fn start(
    State(app): State<App>,
    Fan(caller): Fan,
) -> ApiResult<(StatusCode, Json<IdentityStart>)> {
    Ok((StatusCode::CREATED, Json(accounts::start_identity(&app.context, caller)?)))
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ProveBody {
    /// From the start of the verification, after the fan has completed the provider's window.
    identity_verification_id: Line<100>,
}

/// Confirms the verification with the provider. A person has one account; after a withdrawal, they
/// can verify another one 30 days later.
#[utoipa::path(post, path = "/api/users/me/identity", tag = "accounts",
    security(("accessToken" = [])), request_body = ProveBody,
    responses((status = 200, body = UserView), (status = 401, body = Problem),
              (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn prove(
    State(app): State<App>,
    Fan(caller): Fan,
    body: Body<ProveBody>,
) -> ApiResult<Json<UserView>> {
    let id = body.value.identity_verification_id;
    Ok(Json(accounts::prove_identity(&app.context, caller, id.as_str()).await?))
}
