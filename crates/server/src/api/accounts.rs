//! Sign-up, log-in, refresh, log-out.

use super::error::{ApiResult, Problem};
use super::extract::{Body, CameFrom, Fan};
use super::{App, cookies};
use app::accounts::{self, Credentials, LoggedIn, SignUp};
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use domain::accounts::{Email, GivenPassword, NewPassword, Phone, Role};
use domain::text::Line;
use domain::{Refusal, UserId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SignUpBody {
    email: Email,
    password: NewPassword,
    name: Line<50>,
    #[serde(default)]
    phone: Option<Phone>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SignedUp {
    user_id: UserId,
}

/// Makes an account.
#[utoipa::path(post, path = "/api/auth/signup", tag = "accounts",
    request_body = SignUpBody,
    responses((status = 201, body = SignedUp), (status = 409, body = Problem),
              (status = 422, body = Problem)))]
pub(super) async fn sign_up(
    State(app): State<App>,
    body: Body<SignUpBody>,
) -> ApiResult<(StatusCode, Json<SignedUp>)> {
    let SignUpBody { email, password, name, phone } = body.value;
    let asked = SignUp { email, password, name, phone, role: Role::User };
    let user_id = accounts::sign_up(&app.platform, asked).await?;
    Ok((StatusCode::CREATED, Json(SignedUp { user_id })))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LogInBody {
    email: Email,
    password: GivenPassword,
    /// Six digits of the authenticator app, when the account has a second factor.
    #[serde(default)]
    code: Option<Line<6>>,
}

/// Logs in: an access token for an hour, a refresh token for a week.
#[utoipa::path(post, path = "/api/auth/login", tag = "accounts",
    request_body = LogInBody,
    responses((status = 200, body = LoggedIn), (status = 401, body = Problem),
              (status = 422, body = Problem)))]
pub(super) async fn log_in(
    State(app): State<App>,
    CameFrom(origin): CameFrom,
    body: Body<LogInBody>,
) -> ApiResult<Response> {
    let LogInBody { email, password, code } = body.value;
    let given = Credentials { email, password: password.into(), code: code.map(String::from) };
    let logged_in = accounts::log_in(&app.platform, given, origin).await?;
    Ok(cookies::with_session(logged_in))
}

#[derive(Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct RefreshBody {
    /// Left out by browsers: the cookie has it.
    #[serde(default)]
    refresh_token: Option<String>,
}

/// Spends a refresh token for the next pair.
#[utoipa::path(post, path = "/api/auth/refresh", tag = "accounts",
    request_body = RefreshBody,
    responses((status = 200, body = LoggedIn), (status = 401, body = Problem),
              (status = 409, body = Problem)))]
pub(super) async fn refresh(
    State(app): State<App>,
    headers: HeaderMap,
    body: Body<RefreshBody>,
) -> ApiResult<Response> {
    let given = body.value.refresh_token.as_deref();
    let spent = given.or_else(|| cookies::find(&headers, cookies::REFRESH));
    let spent = spent.ok_or(Refusal::RefreshInvalid)?;
    Ok(cookies::with_session(accounts::refresh(&app.platform, spent).await?))
}

/// Ends the session: nothing of it works any more.
#[utoipa::path(post, path = "/api/auth/logout", tag = "accounts",
    security(("accessToken" = [])),
    responses((status = 204), (status = 401, body = Problem)))]
pub(super) async fn log_out(State(app): State<App>, Fan(caller): Fan) -> ApiResult<Response> {
    accounts::log_out(&app.platform, caller).await?;
    Ok(cookies::without_session())
}
