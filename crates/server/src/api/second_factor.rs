//! The second factor of an account, and the roles that organisers give.

use super::App;
use super::error::{ApiResult, Problem};
use super::extract::{Body, Fan, Id, RequireRecentAuth, guarded};
use app::accounts::{self, TotpStart};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use domain::UserId;
use domain::accounts::{GivenPassword, Role};
use domain::text::Line;
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(start, remove))
        .routes(routes!(confirm))
        .routes(guarded!(change_role))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StartBody {
    password: GivenPassword,
}

/// Begins a second factor: the secret for an authenticator app, shown once.
#[utoipa::path(post, path = "/api/users/me/totp", operation_id = "start_totp", tag = "accounts",
    security(("accessToken" = [])), request_body = StartBody,
    responses((status = 201, body = TotpStart), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 409, body = Problem),
              (status = 422, body = Problem)))]
pub(super) async fn start(
    State(app): State<App>,
    Fan(caller): Fan,
    body: Body<StartBody>,
) -> ApiResult<(StatusCode, Json<TotpStart>)> {
    let password = body.value.password.into();
    let begun = accounts::start_totp(&app.platform, caller, password).await?;
    Ok((StatusCode::CREATED, Json(begun)))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ConfirmTotpBody {
    /// Six digits of the app.
    code: Line<6>,
}

/// Shows the first code; from now on every log-in needs one. All other sessions end.
#[utoipa::path(post, path = "/api/users/me/totp/confirm", operation_id = "confirm_totp", tag = "accounts",
    security(("accessToken" = [])), request_body = ConfirmTotpBody,
    responses((status = 204), (status = 401, body = Problem), (status = 422, body = Problem),
              (status = 429, body = Problem)))]
pub(super) async fn confirm(
    State(app): State<App>,
    Fan(caller): Fan,
    body: Body<ConfirmTotpBody>,
) -> ApiResult<StatusCode> {
    accounts::confirm_totp(&app.platform, caller, body.value.code.as_str()).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RemoveBody {
    password: GivenPassword,
    code: Line<6>,
}

/// Gives the second factor up.
#[utoipa::path(delete, path = "/api/users/me/totp", operation_id = "remove_totp", tag = "accounts",
    security(("accessToken" = [])), request_body = RemoveBody,
    responses((status = 204), (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 422, body = Problem)))]
pub(super) async fn remove(
    State(app): State<App>,
    Fan(caller): Fan,
    body: Body<RemoveBody>,
) -> ApiResult<StatusCode> {
    let RemoveBody { password, code } = body.value;
    accounts::remove_totp(&app.platform, caller, password.into(), code.as_str()).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RoleBody {
    role: Role,
}

/// Makes somebody an organiser (`ADMIN`), one who only looks (`STAFF`), or a fan (`USER`). All their
/// sessions end. Nobody changes their own role.
#[utoipa::path(put, path = "/api/admin/users/{id}/role", tag = "admin",
    security(("accessToken" = [])), params(("id" = UserId, Path)), request_body = RoleBody,
    responses((status = 204), (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 404, body = Problem), (status = 409, body = Problem),
              (status = 422, body = Problem)))]
pub(super) async fn change_role(
    State(app): State<App>,
    RequireRecentAuth(actor): RequireRecentAuth,
    Id(user): Id<UserId>,
    body: Body<RoleBody>,
) -> ApiResult<StatusCode> {
    accounts::change_role(&app.platform, actor, user, body.value.role).await?;
    Ok(StatusCode::NO_CONTENT)
}
