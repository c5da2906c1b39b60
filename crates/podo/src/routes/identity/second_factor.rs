//! An account's second factor, and the roles that organisers assign.

use crate::http::extract::permissions::ManageTeam;
use crate::http::extract::{Body, Fan, Id, RecentAuth, guarded};
use crate::http::problem::{ApiResult, Problem};
use crate::routes::App;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use podo_app::identity::accounts;
use podo_app::identity::accounts::TotpStart;
use podo_app::identity::team;
use podo_app::identity::team::Actor;
use podo_domain::UserId;
use podo_domain::catalog::text::Line;
use podo_domain::identity::permissions::{Membership, TeamRole};
use podo_domain::identity::{GivenPassword, Role};
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(start, remove))
        .routes(routes!(confirm))
        .routes(guarded!(change_role))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StartBody {
    password: GivenPassword,
}

/// Starts the setup of a second factor; returns the secret for an authenticator app, once.
#[utoipa::path(post, path = "/api/users/me/totp", operation_id = "start_totp", tag = "accounts",
    security(("accessToken" = [])), request_body = StartBody,
    responses((status = 201, body = TotpStart), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 409, body = Problem),
              (status = 422, body = Problem)))]
pub(crate) async fn start(
    State(app): State<App>,
    Fan(caller): Fan,
    body: Body<StartBody>,
) -> ApiResult<(StatusCode, Json<TotpStart>)> {
    let password = body.value.password.into();
    let begun = accounts::start_totp(&app.context, caller, password).await?;
    Ok((StatusCode::CREATED, Json(begun)))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ConfirmTotpBody {
    /// Six digits from the app.
    code: Line<6>,
}

/// Confirms the setup with the first code. From now on every login needs a code; all other sessions
/// end.
#[utoipa::path(post, path = "/api/users/me/totp/confirm", operation_id = "confirm_totp", tag = "accounts",
    security(("accessToken" = [])), request_body = ConfirmTotpBody,
    responses((status = 204), (status = 401, body = Problem), (status = 422, body = Problem),
              (status = 429, body = Problem)))]
pub(crate) async fn confirm(
    State(app): State<App>,
    Fan(caller): Fan,
    body: Body<ConfirmTotpBody>,
) -> ApiResult<StatusCode> {
    accounts::confirm_totp(&app.context, caller, body.value.code.as_str()).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RemoveBody {
    password: GivenPassword,
    code: Line<6>,
}

/// Removes the second factor.
#[utoipa::path(delete, path = "/api/users/me/totp", operation_id = "remove_totp", tag = "accounts",
    security(("accessToken" = [])), request_body = RemoveBody,
    responses((status = 204), (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 422, body = Problem)))]
pub(crate) async fn remove(
    State(app): State<App>,
    Fan(caller): Fan,
    body: Body<RemoveBody>,
) -> ApiResult<StatusCode> {
    let RemoveBody { password, code } = body.value;
    accounts::remove_totp(&app.context, caller, password.into(), code.as_str()).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RoleBody {
    role: Role,
}

/// Makes a user an owner (`ADMIN`), a viewer (`STAFF`) or a fan (`USER`), and ends all their
/// sessions. You cannot change your own role.
#[utoipa::path(put, path = "/api/admin/users/{id}/role", tag = "admin",
    security(("accessToken" = [])), params(("id" = UserId, Path)), request_body = RoleBody,
    responses((status = 204), (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 404, body = Problem), (status = 409, body = Problem),
              (status = 422, body = Problem)))]
pub(crate) async fn change_role(
    State(app): State<App>,
    RecentAuth { actor, grant, .. }: RecentAuth<ManageTeam>,
    Id(user): Id<UserId>,
    body: Body<RoleBody>,
) -> ApiResult<StatusCode> {
    let membership = match body.value.role {
        Role::User => None,
        Role::Staff => Some(Membership::preset(TeamRole::Viewer)),
        Role::Admin => Some(Membership::preset(TeamRole::Owner)),
    };
    let actor = Actor { user: actor, grant };
    team::change_membership(&app.context, actor, user, membership).await?;
    Ok(StatusCode::NO_CONTENT)
}
