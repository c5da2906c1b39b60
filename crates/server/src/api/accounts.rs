//! Sign-up, log-in, refresh, log-out, and the proof that it is still you.

use super::answer::json;
use super::error::{ApiResult, Problem};
use super::extract::{Body, CameFrom, Fan};
use super::language::Language;
use super::{App, cookies};
use app::accounts::{self, Credentials, LoggedIn, SignUp};
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use domain::accounts::{Email, GivenPassword, NewPassword, Phone, Role};
use domain::text::Line;
use domain::{Refusal, Timestamp, UserId};
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

/// A letter with a code is on its way.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SignUpAsked {
    sign_up_id: UserId,
    /// Until when the code counts.
    expires_at: Timestamp,
}

/// Makes an account. Where addresses are confirmed first (`confirmEmail` of `/api/auth/options`), the
/// answer is 202 for every address, and the account is made when the code of the letter comes back.
#[utoipa::path(post, path = "/api/auth/signup", tag = "accounts",
    request_body = SignUpBody,
    responses((status = 201, body = SignedUp), (status = 202, body = SignUpAsked),
              (status = 409, body = Problem), (status = 422, body = Problem),
              (status = 429, body = Problem)))]
pub(super) async fn sign_up(
    State(app): State<App>,
    CameFrom(origin): CameFrom,
    headers: HeaderMap,
    body: Body<SignUpBody>,
) -> ApiResult<Response> {
    let SignUpBody { email, password, name, phone } = body.value;
    let asked = SignUp { email, password, name, phone, role: Role::User };
    let language = Language::of(&headers).of_letters();
    match accounts::sign_up(&app.platform, asked, language, &origin).await? {
        accounts::SignedUp::Made(user_id) => json(201, &SignedUp { user_id }),
        accounts::SignedUp::Asked { sign_up, expires_at } => {
            json(202, &SignUpAsked { sign_up_id: sign_up, expires_at })
        }
    }
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ConfirmSignUpBody {
    sign_up_id: UserId,
    /// Six digits of the letter.
    code: Line<6>,
}

/// Makes the account of somebody who got the letter. After five wrong codes a new letter is needed.
#[utoipa::path(post, path = "/api/auth/signup/confirm", tag = "accounts",
    request_body = ConfirmSignUpBody,
    responses((status = 201, body = SignedUp), (status = 401, body = Problem),
              (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(super) async fn confirm_sign_up(
    State(app): State<App>,
    body: Body<ConfirmSignUpBody>,
) -> ApiResult<(StatusCode, Json<SignedUp>)> {
    let ConfirmSignUpBody { sign_up_id, code } = body.value;
    let user_id = accounts::confirm_sign_up(&app.platform, sign_up_id, code.as_str()).await?;
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

/// Logs in: an access token for an hour (organisers: for a third of the time that they may do
/// nothing), a refresh token for a week.
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

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReauthBody {
    #[serde(default)]
    password: Option<GivenPassword>,
    /// Six digits of the authenticator app: asked of accounts with a second factor.
    #[serde(default)]
    code: Option<Line<6>>,
}

/// Shows once more who is there, with a code of the second factor, or with the password where there
/// is none. What answers `REAUTH_REQUIRED` needs this, or a log-in, of the last minutes.
#[utoipa::path(post, path = "/api/auth/reauth", tag = "accounts",
    security(("accessToken" = [])), request_body = ReauthBody,
    responses((status = 204), (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 422, body = Problem), (status = 429, body = Problem)))]
pub(super) async fn reauth(
    State(app): State<App>,
    Fan(caller): Fan,
    body: Body<ReauthBody>,
) -> ApiResult<StatusCode> {
    let ReauthBody { password, code } = body.value;
    let (password, code) = (password.map(String::from), code.as_ref().map(Line::as_str));
    accounts::prove_again(&app.platform, caller, password, code).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Ends the session: nothing of it works any more.
#[utoipa::path(post, path = "/api/auth/logout", tag = "accounts",
    security(("accessToken" = [])),
    responses((status = 204), (status = 401, body = Problem)))]
pub(super) async fn log_out(State(app): State<App>, Fan(caller): Fan) -> ApiResult<Response> {
    accounts::log_out(&app.platform, caller).await?;
    Ok(cookies::without_session())
}
