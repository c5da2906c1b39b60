//! Sign-up, login, refresh, logout and step-up.

use crate::http::extract::{Body, CameFrom, Fan};
use crate::http::language::Language;
use crate::http::problem::{ApiResult, Problem};
use crate::http::respond::cookies;
use crate::http::respond::idempotent::json;
use crate::routes::App;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use podo_app::identity::accounts;
use podo_app::identity::accounts::{Credentials, LoggedIn, SignUp};
use podo_app::messaging::notifications;
use podo_domain::catalog::text::Line;
use podo_domain::identity::consents::Consents;
use podo_domain::identity::{Email, GivenPassword, NewPassword, Phone, Role};
use podo_domain::{Refusal, Timestamp, UserId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SignUpBody {
    email: Email,
    password: NewPassword,
    name: Line<50>,
    #[serde(default)]
    phone: Option<Phone>,
    /// Required once the organiser has published terms or a privacy policy
    /// (`GET /api/auth/pages`).
    #[serde(default)]
    consents: Consents,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SignedUp {
    user_id: UserId,
}

/// An e-mail with a code has been sent.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SignUpAsked {
    sign_up_id: UserId,
    /// When the code expires.
    expires_at: Timestamp,
}

/// Creates an account. If addresses must be confirmed first (`confirmEmail` of
/// `/api/auth/options`), the response is 202 for every address, and confirming with the code from
/// the e-mail creates the account.
#[utoipa::path(post, path = "/api/auth/signup", tag = "accounts",
    request_body = SignUpBody,
    responses((status = 201, body = SignedUp), (status = 202, body = SignUpAsked),
              (status = 409, body = Problem), (status = 422, body = Problem),
              (status = 429, body = Problem)))]
pub(crate) async fn sign_up(
    State(app): State<App>,
    CameFrom(origin): CameFrom,
    headers: HeaderMap,
    body: Body<SignUpBody>,
) -> ApiResult<Response> {
    let SignUpBody { email, password, name, phone, consents } = body.value;
    let asked = SignUp { email, password, name, phone, role: Role::User };
    let language = Language::of(&headers).of_notifications();
    match accounts::sign_up(&app.context, asked, consents, language, &origin).await? {
        accounts::SignedUp::Made(user_id) => json(201, &SignedUp { user_id }),
        accounts::SignedUp::CodeSent { sign_up, expires_at } => {
            json(202, &SignUpAsked { sign_up_id: sign_up, expires_at })
        }
    }
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ConfirmSignUpBody {
    sign_up_id: UserId,
    /// The six digits from the e-mail.
    code: Line<6>,
}

/// Confirms a sign-up with the code, and creates the account. Five wrong codes invalidate it.
#[utoipa::path(post, path = "/api/auth/signup/confirm", tag = "accounts",
    request_body = ConfirmSignUpBody,
    responses((status = 201, body = SignedUp), (status = 401, body = Problem),
              (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn confirm_sign_up(
    State(app): State<App>,
    body: Body<ConfirmSignUpBody>,
) -> ApiResult<(StatusCode, Json<SignedUp>)> {
    let ConfirmSignUpBody { sign_up_id, code } = body.value;
    let user_id = accounts::confirm_sign_up(&app.context, sign_up_id, code.as_str()).await?;
    Ok((StatusCode::CREATED, Json(SignedUp { user_id })))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LogInBody {
    email: Email,
    password: GivenPassword,
    /// Six digits from the authenticator app, if the account has a second factor.
    #[serde(default)]
    code: Option<Line<6>>,
}

/// Logs in: an access token for an hour (for organisers, a third of their idle timeout) and a
/// refresh token for a week.
#[utoipa::path(post, path = "/api/auth/login", tag = "accounts",
    request_body = LogInBody,
    responses((status = 200, body = LoggedIn), (status = 401, body = Problem),
              (status = 422, body = Problem)))]
pub(crate) async fn log_in(
    State(app): State<App>,
    CameFrom(origin): CameFrom,
    headers: HeaderMap,
    body: Body<LogInBody>,
) -> ApiResult<Response> {
    let LogInBody { email, password, code } = body.value;
    let given = Credentials { email, password: password.into(), code: code.map(String::from) };
    let logged_in = accounts::log_in(&app.context, given, origin).await?;
    note_language(&app, &headers, &logged_in).await;
    Ok(cookies::with_session(logged_in))
}

/// Notifications are in the language of the first log-in, until the fan chooses another.
pub(crate) async fn note_language(app: &App, headers: &HeaderMap, logged_in: &LoggedIn) {
    if let Some(language) = Language::named(headers) {
        let user = logged_in.user.id;
        notifications::note_language(&app.context, user, language.of_notifications()).await;
    }
}

#[derive(Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RefreshBody {
    /// Browsers omit it and send the cookie.
    #[serde(default)]
    refresh_token: Option<String>,
}

/// Exchanges a refresh token for the next pair of tokens.
#[utoipa::path(post, path = "/api/auth/refresh", tag = "accounts",
    request_body = RefreshBody,
    responses((status = 200, body = LoggedIn), (status = 401, body = Problem),
              (status = 409, body = Problem)))]
pub(crate) async fn refresh(
    State(app): State<App>,
    headers: HeaderMap,
    body: Body<RefreshBody>,
) -> ApiResult<Response> {
    let given = body.value.refresh_token.as_deref();
    let spent = given.or_else(|| cookies::find(&headers, cookies::REFRESH));
    let spent = spent.ok_or(Refusal::RefreshInvalid)?;
    Ok(cookies::with_session(accounts::refresh(&app.context, spent).await?))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReauthBody {
    #[serde(default)]
    password: Option<GivenPassword>,
    /// Six digits from the authenticator app, if the account has a second factor.
    #[serde(default)]
    code: Option<Line<6>>,
}

/// Proves the identity again (step-up), with a code of the second factor, or with the password if
/// there is none. Calls that respond with `REAUTH_REQUIRED` need this, or a login, within the last
/// minutes.
#[utoipa::path(post, path = "/api/auth/reauth", tag = "accounts",
    security(("accessToken" = [])), request_body = ReauthBody,
    responses((status = 204), (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 422, body = Problem), (status = 429, body = Problem)))]
pub(crate) async fn reauth(
    State(app): State<App>,
    Fan(caller): Fan,
    body: Body<ReauthBody>,
) -> ApiResult<StatusCode> {
    let ReauthBody { password, code } = body.value;
    let (password, code) = (password.map(String::from), code.as_ref().map(Line::as_str));
    accounts::prove_again(&app.context, caller, password, code).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Ends the session and invalidates its tokens.
#[utoipa::path(post, path = "/api/auth/logout", tag = "accounts",
    security(("accessToken" = [])),
    responses((status = 204), (status = 401, body = Problem)))]
pub(crate) async fn log_out(State(app): State<App>, Fan(caller): Fan) -> ApiResult<Response> {
    accounts::log_out(&app.context, caller).await?;
    Ok(cookies::without_session())
}
