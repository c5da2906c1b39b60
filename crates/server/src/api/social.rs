//! Logging in with an account at Kakao, Naver or Google, and linking one to an account here.

use super::App;
use super::cookies::{self, Cookie};
use super::error::{ApiError, ApiResult, Problem};
use super::extract::{Body, CameFrom, Fan, Params, text_of};
use app::accounts::{self, SOCIAL_WITHIN, SocialEnd, SocialReturn, finish_social, start_social};
use app::ports::accounts::LinkedView;
use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::{AppendHeaders, IntoResponse, Response};
use domain::Refusal;
use domain::accounts::{GivenPassword, SocialProvider};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(options))
        .routes(routes!(start))
        .routes(routes!(callback))
        .routes(routes!(links))
        .routes(routes!(link, unlink))
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct LoginOptions {
    /// Services whose accounts log in here: `/api/auth/{service}/start`.
    social: Vec<&'static str>,
    /// Whether a person can prove who they are.
    identity: bool,
    /// Whether an account is made only when its address was confirmed.
    confirm_email: bool,
}

/// How people can log in here.
#[utoipa::path(get, path = "/api/auth/options", tag = "accounts",
    responses((status = 200, body = LoginOptions)))]
pub(super) async fn options(State(app): State<App>) -> Json<LoginOptions> {
    let services = app.platform.social.iter();
    Json(LoginOptions {
        social: services.map(|service| service.provider().slug()).collect(),
        identity: app.platform.certifier.is_some(),
        confirm_email: app.platform.rules.confirm_email,
    })
}

/// `Lax`: it must come along when the service sends the browser back.
fn flow_cookie(value: &str, max_age_s: u64) -> (HeaderName, String) {
    let name = "__Host-podo_social";
    (header::SET_COOKIE, Cookie { name, value, same_site: "Lax", max_age_s }.text())
}

fn provider_in(path: &str) -> ApiResult<SocialProvider> {
    Ok(SocialProvider::from_slug(path).ok_or(Refusal::NotFound)?)
}

/// Sends the browser to `kakao`, `naver` or `google` to log in there.
#[utoipa::path(get, path = "/api/auth/{provider}/start", operation_id = "start_social_log_in", tag = "accounts",
    params(("provider" = String, Path)),
    responses((status = 303), (status = 404, body = Problem), (status = 503, body = Problem)))]
pub(super) async fn start(
    State(app): State<App>,
    Path(provider): Path<String>,
) -> ApiResult<Response> {
    let begun = start_social(&app.platform, provider_in(&provider)?).await?;
    let cookie = flow_cookie(&begun.kept, SOCIAL_WITHIN.as_secs());
    let headers = AppendHeaders([cookie, (header::LOCATION, begun.url)]);
    Ok((StatusCode::SEE_OTHER, headers).into_response())
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct CallbackParams {
    #[serde(default)]
    code: String,
    #[serde(default)]
    state: String,
}

/// Where the service sends the browser back to. Logs in with cookies, and goes on to the first page;
/// whoever is new gets an account. Of a link that was begun, it makes that link instead.
#[utoipa::path(get, path = "/api/auth/{provider}/callback", tag = "accounts",
    params(("provider" = String, Path), CallbackParams),
    responses((status = 303), (status = 401, body = Problem), (status = 404, body = Problem),
              (status = 409, body = Problem), (status = 503, body = Problem)))]
pub(super) async fn callback(
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
    match finish_social(&app.platform, provider, back, origin).await {
        Ok(SocialEnd::Linked) => {
            let to = (header::LOCATION, format!("/?linked={}#/me", provider.slug()));
            Ok((StatusCode::SEE_OTHER, AppendHeaders([done, to])).into_response())
        }
        Ok(SocialEnd::LoggedIn(logged_in)) => {
            let to = (header::LOCATION, "/?welcome".to_owned());
            let mut headers = vec![done, to];
            headers.extend(cookies::of_session(&logged_in));
            Ok((StatusCode::SEE_OTHER, AppendHeaders(headers)).into_response())
        }
        Err(error) => tell(error.into(), &headers, done),
    }
}

#[derive(Serialize, ToSchema)]
pub(super) struct Links {
    items: Vec<LinkedView>,
}

/// The accounts at other services that log in to one's own.
#[utoipa::path(get, path = "/api/users/me/social", tag = "accounts",
    security(("accessToken" = [])),
    responses((status = 200, body = Links), (status = 401, body = Problem)))]
pub(super) async fn links(State(app): State<App>, Fan(caller): Fan) -> ApiResult<Json<Links>> {
    Ok(Json(Links { items: accounts::links(&app.platform, caller).await? }))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LinkBody {
    /// Left out where the account has none; then the log-in must be of the last ten minutes.
    #[serde(default)]
    password: Option<GivenPassword>,
}

fn password_in(body: LinkBody) -> String {
    body.password.map(String::from).unwrap_or_default()
}

/// Where to go on.
#[derive(Serialize, ToSchema)]
pub(super) struct LinkStart {
    url: String,
}

/// Begins to link an account at another service: the browser goes to `url`, logs in there, and comes
/// back. Nothing is ever linked because two accounts have one address.
#[utoipa::path(post, path = "/api/users/me/social/{provider}", tag = "accounts",
    security(("accessToken" = [])), params(("provider" = String, Path)),
    request_body = LinkBody,
    responses((status = 200, body = LinkStart), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 422, body = Problem), (status = 503, body = Problem)))]
pub(super) async fn link(
    State(app): State<App>,
    Fan(caller): Fan,
    Path(provider): Path<String>,
    body: Body<LinkBody>,
) -> ApiResult<Response> {
    let (provider, password) = (provider_in(&provider)?, password_in(body.value));
    let begun = accounts::start_link(&app.platform, caller, provider, password).await?;
    let cookie = flow_cookie(&begun.kept, SOCIAL_WITHIN.as_secs());
    Ok((AppendHeaders([cookie]), Json(LinkStart { url: begun.url })).into_response())
}

/// Takes the link away. The last thing that one could log in with stays.
#[utoipa::path(delete, path = "/api/users/me/social/{provider}", tag = "accounts",
    security(("accessToken" = [])), params(("provider" = String, Path)),
    request_body = LinkBody,
    responses((status = 204), (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 404, body = Problem), (status = 409, body = Problem),
              (status = 422, body = Problem)))]
pub(super) async fn unlink(
    State(app): State<App>,
    Fan(caller): Fan,
    Path(provider): Path<String>,
    body: Body<LinkBody>,
) -> ApiResult<StatusCode> {
    let (provider, password) = (provider_in(&provider)?, password_in(body.value));
    accounts::unlink(&app.platform, caller, provider, password).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// A browser is sent to a page that can show the problem; a program gets the problem itself.
fn tell(error: ApiError, asked: &HeaderMap, done: (HeaderName, String)) -> ApiResult<Response> {
    let is_browser = text_of(asked, "accept").is_some_and(|it| it.contains("text/html"));
    if !is_browser {
        return Err(error);
    }
    let to = (header::LOCATION, format!("/?problem={}", error.code()));
    Ok((StatusCode::SEE_OTHER, AppendHeaders([done, to])).into_response())
}
