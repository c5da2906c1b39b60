//! The fan's own account.

use crate::http::extract::{Body, Fan, Id, PageParams, Params, page};
use crate::http::problem::{ApiResult, Problem};
use crate::http::respond::cookies::without_session;
use crate::routes::App;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use podo_app::identity::accounts;
use podo_app::identity::accounts::{ProfileChange, UserView};
use podo_app::identity::port::accounts::{LoginView, SessionView};
use podo_app::store::Page;
use podo_domain::SessionId;
use podo_domain::catalog::text::Line;
use podo_domain::identity::{GivenPassword, NewPassword, Phone};
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

/// The logged-in user.
#[utoipa::path(get, path = "/api/users/me", tag = "accounts",
    security(("accessToken" = [])),
    responses((status = 200, body = UserView), (status = 401, body = Problem)))]
pub(crate) async fn me(State(app): State<App>, Fan(caller): Fan) -> ApiResult<Json<UserView>> {
    Ok(Json(accounts::me(&app.context, caller).await?))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProfileBody {
    /// Omit to keep it.
    #[serde(default)]
    name: Option<Line<50>>,
    /// Omit to keep it, `null` to remove it.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<Phone>)]
    phone: Option<Option<Phone>>,
}

/// Distinguishes `null` from a missing field.
fn given<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Option<Phone>>, D::Error> {
    Option::<Phone>::deserialize(from).map(Some)
}

/// Changes the name or the phone number.
#[utoipa::path(patch, path = "/api/users/me", operation_id = "change_profile", tag = "accounts",
    security(("accessToken" = [])), request_body = ProfileBody,
    responses((status = 200, body = UserView), (status = 401, body = Problem),
              (status = 422, body = Problem)))]
pub(crate) async fn change(
    State(app): State<App>,
    Fan(caller): Fan,
    body: Body<ProfileBody>,
) -> ApiResult<Json<UserView>> {
    let ProfileBody { name, phone } = body.value;
    let change = ProfileChange { name, phone };
    Ok(Json(accounts::change_profile(&app.context, caller, change).await?))
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct PasswordBody {
    current_password: GivenPassword,
    new_password: NewPassword,
}

/// Changes the password, and ends all other sessions.
#[utoipa::path(post, path = "/api/users/me/password", tag = "accounts",
    security(("accessToken" = [])), request_body = PasswordBody,
    responses((status = 204), (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 422, body = Problem)))]
pub(crate) async fn change_password(
    State(app): State<App>,
    Fan(caller): Fan,
    body: Body<PasswordBody>,
) -> ApiResult<StatusCode> {
    let PasswordBody { current_password, new_password } = body.value;
    accounts::change_password(&app.context, caller, current_password.into(), new_password).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WithdrawBody {
    password: GivenPassword,
}

/// Deletes the account. Personal data is erased after 30 days; the address can be used again at
/// once.
#[utoipa::path(delete, path = "/api/users/me", tag = "accounts",
    security(("accessToken" = [])), request_body = WithdrawBody,
    responses((status = 204), (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 409, body = Problem)))]
pub(crate) async fn withdraw(
    State(app): State<App>,
    Fan(caller): Fan,
    body: Body<WithdrawBody>,
) -> ApiResult<Response> {
    accounts::withdraw(&app.context, caller, body.value.password.into()).await?;
    Ok(without_session())
}

/// Logins, newest first, including failed ones.
#[utoipa::path(get, path = "/api/users/me/logins", tag = "accounts",
    security(("accessToken" = [])), params(PageParams),
    responses((status = 200, body = Page<LoginView>), (status = 401, body = Problem)))]
pub(crate) async fn logins(
    State(app): State<App>,
    Fan(caller): Fan,
    Params(params): Params<PageParams>,
) -> ApiResult<Json<Page<LoginView>>> {
    let page = page(params.limit, params.cursor)?;
    Ok(Json(accounts::logins(&app.context, caller, page).await?))
}

#[derive(Serialize, ToSchema)]
pub(crate) struct Sessions {
    items: Vec<SessionView>,
}

/// The fan's sessions.
#[utoipa::path(get, path = "/api/users/me/sessions", tag = "accounts",
    security(("accessToken" = [])),
    responses((status = 200, body = Sessions), (status = 401, body = Problem)))]
pub(crate) async fn sessions(
    State(app): State<App>,
    Fan(caller): Fan,
) -> ApiResult<Json<Sessions>> {
    Ok(Json(Sessions { items: accounts::sessions(&app.context, caller).await? }))
}

/// Ends a session on any device.
#[utoipa::path(delete, path = "/api/users/me/sessions/{id}", tag = "accounts",
    security(("accessToken" = [])), params(("id" = SessionId, Path)),
    responses((status = 204), (status = 401, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn end_session(
    State(app): State<App>,
    Fan(caller): Fan,
    Id(session): Id<SessionId>,
) -> ApiResult<StatusCode> {
    accounts::end_session(&app.context, caller, session).await?;
    Ok(StatusCode::NO_CONTENT)
}
