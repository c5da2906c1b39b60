//! The fan's own account.

use super::App;
use super::cookies::without_session;
use super::error::{ApiResult, Problem};
use super::extract::{Body, Fan, Id, PageParams, Params, page};
use app::accounts::{self, ProfileChange, UserView};
use app::paging::Page;
use app::ports::accounts::{LoginView, SessionView};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use domain::SessionId;
use domain::accounts::{GivenPassword, NewPassword, Phone};
use domain::text::Line;
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

/// Who is logged in.
#[utoipa::path(get, path = "/api/users/me", tag = "accounts",
    security(("accessToken" = [])),
    responses((status = 200, body = UserView), (status = 401, body = Problem)))]
pub(super) async fn me(State(app): State<App>, Fan(caller): Fan) -> ApiResult<Json<UserView>> {
    Ok(Json(accounts::me(&app.platform, caller).await?))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ProfileBody {
    /// Left out to keep it.
    #[serde(default)]
    name: Option<Line<50>>,
    /// Left out to keep it, `null` to have none.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<Phone>)]
    phone: Option<Option<Phone>>,
}

/// Tells `null` from a field that is not there.
fn given<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Option<Phone>>, D::Error> {
    Option::<Phone>::deserialize(from).map(Some)
}

/// Changes the name or the phone number.
#[utoipa::path(patch, path = "/api/users/me", operation_id = "change_profile", tag = "accounts",
    security(("accessToken" = [])), request_body = ProfileBody,
    responses((status = 200, body = UserView), (status = 401, body = Problem),
              (status = 422, body = Problem)))]
pub(super) async fn change(
    State(app): State<App>,
    Fan(caller): Fan,
    body: Body<ProfileBody>,
) -> ApiResult<Json<UserView>> {
    let ProfileBody { name, phone } = body.value;
    let change = ProfileChange { name, phone };
    Ok(Json(accounts::change_profile(&app.platform, caller, change).await?))
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PasswordBody {
    current_password: GivenPassword,
    new_password: NewPassword,
}

/// Sets another password. All other sessions end.
#[utoipa::path(post, path = "/api/users/me/password", tag = "accounts",
    security(("accessToken" = [])), request_body = PasswordBody,
    responses((status = 204), (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 422, body = Problem)))]
pub(super) async fn change_password(
    State(app): State<App>,
    Fan(caller): Fan,
    body: Body<PasswordBody>,
) -> ApiResult<StatusCode> {
    let PasswordBody { current_password, new_password } = body.value;
    accounts::change_password(&app.platform, caller, current_password.into(), new_password).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WithdrawBody {
    password: GivenPassword,
}

/// Gives the account up. Who it was is erased after 30 days; the address is free at once.
#[utoipa::path(delete, path = "/api/users/me", tag = "accounts",
    security(("accessToken" = [])), request_body = WithdrawBody,
    responses((status = 204), (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 409, body = Problem)))]
pub(super) async fn withdraw(
    State(app): State<App>,
    Fan(caller): Fan,
    body: Body<WithdrawBody>,
) -> ApiResult<Response> {
    accounts::withdraw(&app.platform, caller, body.value.password.into()).await?;
    Ok(without_session())
}

/// Log-ins, newest first, also those that failed.
#[utoipa::path(get, path = "/api/users/me/logins", tag = "accounts",
    security(("accessToken" = [])), params(PageParams),
    responses((status = 200, body = Page<LoginView>), (status = 401, body = Problem)))]
pub(super) async fn logins(
    State(app): State<App>,
    Fan(caller): Fan,
    Params(params): Params<PageParams>,
) -> ApiResult<Json<Page<LoginView>>> {
    let page = page(params.limit, params.cursor)?;
    Ok(Json(accounts::logins(&app.platform, caller, page).await?))
}

#[derive(Serialize, ToSchema)]
pub(super) struct Sessions {
    items: Vec<SessionView>,
}

/// Where the fan is logged in.
#[utoipa::path(get, path = "/api/users/me/sessions", tag = "accounts",
    security(("accessToken" = [])),
    responses((status = 200, body = Sessions), (status = 401, body = Problem)))]
pub(super) async fn sessions(
    State(app): State<App>,
    Fan(caller): Fan,
) -> ApiResult<Json<Sessions>> {
    Ok(Json(Sessions { items: accounts::sessions(&app.platform, caller).await? }))
}

/// Ends a session, on whatever device it is.
#[utoipa::path(delete, path = "/api/users/me/sessions/{id}", tag = "accounts",
    security(("accessToken" = [])), params(("id" = SessionId, Path)),
    responses((status = 204), (status = 401, body = Problem), (status = 404, body = Problem)))]
pub(super) async fn end_session(
    State(app): State<App>,
    Fan(caller): Fan,
    Id(session): Id<SessionId>,
) -> ApiResult<StatusCode> {
    accounts::end_session(&app.platform, caller, session).await?;
    Ok(StatusCode::NO_CONTENT)
}
