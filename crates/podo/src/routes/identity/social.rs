//! Login with a Kakao, Naver or Google account, and linking one to an account here.

use crate::http::extract::{Body, CameFrom, Fan, Params, text_of};
use crate::http::problem::{ApiError, ApiResult, Problem};
use crate::http::respond::cookies;
use crate::http::respond::cookies::Cookie;
use crate::routes::App;
use crate::routes::identity::accounts::note_language;
use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::{AppendHeaders, IntoResponse, Response};
use podo_app::identity::accounts;
use podo_app::identity::accounts::{
    SOCIAL_WITHIN, SocialEnd, SocialReturn, finish_social, start_social,
};
use podo_app::identity::port::accounts::LinkedView;
use podo_domain::Refusal;
use podo_domain::identity::{GivenPassword, SocialProvider};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(options))
        .routes(routes!(start))
        .routes(routes!(callback))
        .routes(routes!(links))
        .routes(routes!(link, unlink))
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LoginOptions {
    /// Login providers: `/api/auth/{service}/start`.
    social: Vec<&'static str>,
    /// Whether identity verification is available.
    identity: bool,
    /// Whether a sign-up needs a confirmed e-mail address.
    confirm_email: bool,
}

/// The available ways to log in.
#[utoipa::path(get, path = "/api/auth/options", tag = "accounts",
    responses((status = 200, body = LoginOptions)))]
pub(crate) async fn options(State(app): State<App>) -> Json<LoginOptions> {
    let services = app.context.identity.social.iter();
    Json(LoginOptions {
        social: services.map(|service| service.provider().slug()).collect(),
        identity: app.context.identity.certifier.is_some(),
        confirm_email: app.context.rules.confirm_email,
    })
}

/// `Lax`, because the browser must send it when the provider redirects back.
fn flow_cookie(value: &str, max_age_s: u64) -> (HeaderName, String) {
    let name = "__Host-podo_social";
    (header::SET_COOKIE, Cookie { name, value, same_site: "Lax", max_age_s }.text())
}

fn provider_in(path: &str) -> ApiResult<SocialProvider> {
    Ok(SocialProvider::from_slug(path).ok_or(Refusal::NotFound)?)
}

/// Redirects the browser to `kakao`, `naver` or `google` to log in.
#[utoipa::path(get, path = "/api/auth/{provider}/start", operation_id = "start_social_log_in", tag = "accounts",
    params(("provider" = String, Path)),
    responses((status = 303), (status = 404, body = Problem), (status = 503, body = Problem)))]
pub(crate) async fn start(
    State(app): State<App>,
    Path(provider): Path<String>,
) -> ApiResult<Response> {
    let begun = start_social(&app.context, provider_in(&provider)?).await?;
    let cookie = flow_cookie(&begun.kept, SOCIAL_WITHIN.as_secs());
    let headers = AppendHeaders([cookie, (header::LOCATION, begun.url)]);
    Ok((StatusCode::SEE_OTHER, headers).into_response())
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct CallbackParams {
    #[serde(default)]
    code: String,
    #[serde(default)]
    state: String,
}

/// The provider redirects the browser here. Logs in with cookies and redirects to the home page; a
/// new user gets an account. If the flow started as a link, it creates the link instead.
#[utoipa::path(get, path = "/api/auth/{provider}/callback", tag = "accounts",
    params(("provider" = String, Path), CallbackParams),
    responses((status = 303), (status = 401, body = Problem), (status = 404, body = Problem),
              (status = 409, body = Problem), (status = 503, body = Problem)))]
pub(crate) async fn callback(
    State(app): State<App>,
    Path(provider): Path<String>,
    CameFrom(origin): CameFrom,
    headers: HeaderMap,
    Params(params): Params<CallbackParams>,
) -> ApiResult<Response> {
    let provider = provider_in(&provider)?;
    let kept = cookies::find(&headers, "__Host-podo_social").unwrap_or_default();
    let back = SocialReturn { code: &params.code, state: &params.state, kept };
    let done = flow_cookie("", 0);
    match finish_social(&app.context, provider, back, origin).await {
        Ok(SocialEnd::Linked) => {
            let to = (header::LOCATION, format!("/?linked={}#/me", provider.slug()));
            Ok((StatusCode::SEE_OTHER, AppendHeaders([done, to])).into_response())
        }
        Ok(SocialEnd::LoggedIn(logged_in)) => {
            note_language(&app, &headers, &logged_in).await;
            let to = (header::LOCATION, "/?welcome".to_owned());
            let mut headers = vec![done, to];
            headers.extend(cookies::of_session(&logged_in));
            Ok((StatusCode::SEE_OTHER, AppendHeaders(headers)).into_response())
        }
        Err(error) => tell(error.into(), &headers),
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct Links {
    items: Vec<LinkedView>,
}

/// The linked accounts at login providers.
#[utoipa::path(get, path = "/api/users/me/social", tag = "accounts",
    security(("accessToken" = [])),
    responses((status = 200, body = Links), (status = 401, body = Problem)))]
pub(crate) async fn links(State(app): State<App>, Fan(caller): Fan) -> ApiResult<Json<Links>> {
    Ok(Json(Links { items: accounts::links(&app.context, caller).await? }))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LinkBody {
    /// Omit if the account has none; the login must then be at most ten minutes old.
    #[serde(default)]
    password: Option<GivenPassword>,
}

fn password_in(body: LinkBody) -> String {
    body.password.map(String::from).unwrap_or_default()
}

/// Where the browser continues.
#[derive(Serialize, ToSchema)]
pub(crate) struct LinkStart {
    url: String,
}

/// Starts to link an account at a login provider: the browser opens `url`, logs in there, and
/// returns. Accounts are never linked just because their addresses match.
#[utoipa::path(post, path = "/api/users/me/social/{provider}", tag = "accounts",
    security(("accessToken" = [])), params(("provider" = String, Path)),
    request_body = LinkBody,
    responses((status = 200, body = LinkStart), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 422, body = Problem), (status = 503, body = Problem)))]
pub(crate) async fn link(
    State(app): State<App>,
    Fan(caller): Fan,
    Path(provider): Path<String>,
    body: Body<LinkBody>,
) -> ApiResult<Response> {
    let (provider, password) = (provider_in(&provider)?, password_in(body.value));
    let begun = accounts::start_link(&app.context, caller, provider, password).await?;
    let cookie = flow_cookie(&begun.kept, SOCIAL_WITHIN.as_secs());
    Ok((AppendHeaders([cookie]), Json(LinkStart { url: begun.url })).into_response())
}

/// Removes the link, unless it is the only way to log in.
#[utoipa::path(delete, path = "/api/users/me/social/{provider}", tag = "accounts",
    security(("accessToken" = [])), params(("provider" = String, Path)),
    request_body = LinkBody,
    responses((status = 204), (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 404, body = Problem), (status = 409, body = Problem),
              (status = 422, body = Problem)))]
pub(crate) async fn unlink(
    State(app): State<App>,
    Fan(caller): Fan,
    Path(provider): Path<String>,
    body: Body<LinkBody>,
) -> ApiResult<StatusCode> {
    let (provider, password) = (provider_in(&provider)?, password_in(body.value));
    accounts::unlink(&app.context, caller, provider, password).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// A browser is redirected to a page that shows the problem, without the cookie of the flow; a
/// program gets the problem itself.
fn tell(error: ApiError, asked: &HeaderMap) -> ApiResult<Response> {
    let is_browser = text_of(asked, "accept").is_some_and(|it| it.contains("text/html"));
    if !is_browser {
        return Err(error);
    }
    let to = (header::LOCATION, format!("/?problem={}", error.code()));
    Ok((StatusCode::SEE_OTHER, AppendHeaders([flow_cookie("", 0), to])).into_response())
}
