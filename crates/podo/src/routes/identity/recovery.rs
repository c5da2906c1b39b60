//! Forgotten passwords and changed addresses.

use crate::http::extract::{Body, CameFrom, Fan};
use crate::http::language::Language;
use crate::http::problem::{ApiResult, Problem};
use crate::routes::App;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use podo_app::identity::accounts;
use podo_domain::catalog::text::Line;
use podo_domain::identity::{Email, GivenPassword, NewPassword};
use podo_domain::{Timestamp, UserId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(ask_reset))
        .routes(routes!(reset_password))
        .routes(routes!(ask_email_change))
        .routes(routes!(confirm_email_change))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ForgottenBody {
    email: Email,
}

/// An e-mail has been sent, whether or not the address has an account.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ResetAsked {
    /// When the link expires.
    expires_at: Timestamp,
}

/// Mails a link to set a new password. The response is the same for every address.
#[utoipa::path(post, path = "/api/auth/password/forgotten", tag = "accounts",
    request_body = ForgottenBody,
    responses((status = 202, body = ResetAsked), (status = 422, body = Problem),
              (status = 429, body = Problem)))]
pub(crate) async fn ask_reset(
    State(app): State<App>,
    CameFrom(origin): CameFrom,
    headers: HeaderMap,
    body: Body<ForgottenBody>,
) -> ApiResult<(StatusCode, Json<ResetAsked>)> {
    let language = Language::of(&headers).of_notifications();
    let email = body.value.email;
    let expires_at = accounts::ask_reset(&app.context, &email, language, &origin).await?;
    Ok((StatusCode::ACCEPTED, Json(ResetAsked { expires_at })))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResetBody {
    /// From the link in the e-mail.
    token: Line<100>,
    password: NewPassword,
}

/// Sets a new password with the token of the link, once. All sessions end.
#[utoipa::path(post, path = "/api/auth/password/reset", tag = "accounts",
    request_body = ResetBody,
    responses((status = 204), (status = 404, body = Problem), (status = 422, body = Problem),
              (status = 429, body = Problem)))]
pub(crate) async fn reset_password(
    State(app): State<App>,
    CameFrom(origin): CameFrom,
    body: Body<ResetBody>,
) -> ApiResult<StatusCode> {
    let ResetBody { token, password } = body.value;
    accounts::reset_password(&app.context, token.as_str(), password, &origin).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewEmailBody {
    /// Empty for an account without a password that logged in a moment ago.
    password: GivenPassword,
    email: Email,
}

/// An e-mail with a code has been sent to the new address.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EmailChange {
    change_id: UserId,
    /// When the code expires.
    expires_at: Timestamp,
}

/// Asks to change the account's address: a code goes to the new one. The response is the same for
/// every address.
#[utoipa::path(post, path = "/api/users/me/email", tag = "accounts",
    security(("accessToken" = [])), request_body = NewEmailBody,
    responses((status = 202, body = EmailChange), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 422, body = Problem),
              (status = 429, body = Problem)))]
pub(crate) async fn ask_email_change(
    State(app): State<App>,
    Fan(caller): Fan,
    headers: HeaderMap,
    body: Body<NewEmailBody>,
) -> ApiResult<(StatusCode, Json<EmailChange>)> {
    let NewEmailBody { password, email } = body.value;
    let language = Language::of(&headers).of_notifications();
    let asked =
        accounts::ask_email_change(&app.context, caller, password.into(), &email, language).await?;
    let change = EmailChange { change_id: asked.change, expires_at: asked.expires_at };
    Ok((StatusCode::ACCEPTED, Json(change)))
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct EmailChangeBody {
    change_id: UserId,
    /// The six digits from the e-mail.
    code: Line<6>,
}

/// Changes the address with the code from the e-mail. The previous address gets a notice, and all
/// other sessions end. Five wrong codes invalidate it.
#[utoipa::path(post, path = "/api/users/me/email/confirm", tag = "accounts",
    security(("accessToken" = [])), request_body = EmailChangeBody,
    responses((status = 204), (status = 401, body = Problem), (status = 409, body = Problem),
              (status = 422, body = Problem)))]
pub(crate) async fn confirm_email_change(
    State(app): State<App>,
    Fan(caller): Fan,
    headers: HeaderMap,
    body: Body<EmailChangeBody>,
) -> ApiResult<StatusCode> {
    let EmailChangeBody { change_id, code } = body.value;
    let language = Language::of(&headers).of_notifications();
    let code = code.as_str();
    accounts::confirm_email_change(&app.context, caller, change_id, code, language).await?;
    Ok(StatusCode::NO_CONTENT)
}
