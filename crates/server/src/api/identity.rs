//! Proving who one is.

use super::App;
use super::error::{ApiResult, Problem};
use super::extract::{Body, Fan};
use app::accounts::{self, IdentityStart, UserView};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use domain::text::Line;
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(start)).routes(routes!(prove))
}

/// Begins a verification: what the certifier's window in the browser needs.
#[utoipa::path(post, path = "/api/users/me/identity/start", operation_id = "start_identity_check", tag = "accounts",
    security(("accessToken" = [])),
    responses((status = 201, body = IdentityStart), (status = 401, body = Problem),
              (status = 409, body = Problem)))]
pub(super) async fn start(
    State(app): State<App>,
    Fan(caller): Fan,
) -> ApiResult<(StatusCode, Json<IdentityStart>)> {
    Ok((StatusCode::CREATED, Json(accounts::start_identity(&app.platform, caller)?)))
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ProveBody {
    /// As the start gave it, after the fan passed the certifier's window.
    identity_verification_id: Line<100>,
}

/// Asks the certifier who passed. One person has one account; whoever withdrew can prove it again
/// 30 days later.
#[utoipa::path(post, path = "/api/users/me/identity", tag = "accounts",
    security(("accessToken" = [])), request_body = ProveBody,
    responses((status = 200, body = UserView), (status = 401, body = Problem),
              (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(super) async fn prove(
    State(app): State<App>,
    Fan(caller): Fan,
    body: Body<ProveBody>,
) -> ApiResult<Json<UserView>> {
    let id = body.value.identity_verification_id;
    Ok(Json(accounts::prove_identity(&app.platform, caller, id.as_str()).await?))
}
