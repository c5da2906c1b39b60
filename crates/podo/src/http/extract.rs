//! Extractors. Each returns a specific problem if the request lacks its value.

use crate::http::address_budgets::Share;
use crate::http::edge::gate::quota_of_user;
use crate::http::edge::{Deadline, network_of};
use crate::http::problem::{ApiError, Failure};
use crate::http::respond::cookies;
use crate::routes::{App, AppState};
use axum::body::{BodyDataStream, Bytes, to_bytes};
use axum::extract::{
    ConnectInfo, FromRequest, FromRequestParts, MatchedPath, RawPathParams, Request,
};
pub(crate) use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use futures::StreamExt;
use podo_app::identity::accounts::{Origin, authenticate, authenticate_until, session_ends_at};
use podo_app::identity::sessions::Caller;
use podo_app::identity::team::api_keys;
use podo_app::operations::idempotency::idempotency_key;
use podo_app::operations::port::idempotency::IdempotencyKey;
use podo_app::operations::throttling::rate_limits::UserRoute;
use podo_app::payments::port::gateway::Device;
use podo_app::store::{PAGE_MAX, PageRequest};
use podo_domain::{Refusal, SessionId, Timestamp, UserId};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;
use std::time::Duration;
use uuid::Uuid;

pub(crate) mod audit_note;
mod client_headers;
pub(crate) mod permissions;
pub(crate) mod policy;
pub(crate) mod scope;
mod staff;

pub(crate) use client_headers::{ClientHeaders, access_token, access_token_in};
pub(crate) use policy::guarded;
pub(crate) use staff::{Allowed, Audited, AuditedExport, AuditedStart, Continues, RecentAuth};

/// Largest body accepted.
const BODY_MAX: usize = 64 * 1024;

/// Largest body for a layout: sixty thousand individually placed seats.
const LARGE_BODY_MAX: usize = 16 * 1024 * 1024;

/// A logged-in user.
pub(crate) struct Fan(pub(crate) Caller);

impl FromRequestParts<App> for Fan {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Fan, ApiError> {
        Fan::of(app, access_token(&parts.headers), matched_path(parts)).await
    }
}

impl Fan {
    /// `route` is the template of the path.
    pub(crate) async fn of(
        app: &AppState,
        access_token: Option<&str>,
        route: &str,
    ) -> Result<Fan, ApiError> {
        let token = access_token.ok_or(Refusal::LoginRequired)?;
        let caller = authenticate(&app.context, token, app.context.now()).await?;
        check_user_limit(app, caller.user, route)?;
        Ok(Fan(caller))
    }
}

/// The route's template, which limits apply to.
fn matched_path(parts: &Parts) -> &str {
    parts.extensions.get::<MatchedPath>().map_or("", MatchedPath::as_str)
}

/// Enforces the user's rate limit for this route.
fn check_user_limit(app: &AppState, user: UserId, route: &str) -> Result<(), ApiError> {
    if !app.context.rules.limits_on {
        return Ok(());
    }
    let quota = quota_of_user(app, route);
    let users = &app.context.operations.rate_limits.users;
    users.take(&UserRoute::new(user, route), quota, app.context.now())?.or_refuse()?;
    Ok(())
}

/// A session's lifetime, for responses that outlast the check of the request.
pub(crate) enum SessionLife {
    Session {
        session: SessionId,
        ends_at: Timestamp,
    },
    /// A program's key, which may be revoked at any moment.
    Key(String),
}

impl FromRequestParts<App> for SessionLife {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<SessionLife, ApiError> {
        let token = access_token(&parts.headers).ok_or(Refusal::LoginRequired)?;
        if api_keys::is_key(token) {
            return Ok(SessionLife::Key(token.to_owned()));
        }
        let (caller, ends_at) = authenticate_until(&app.context, token, app.context.now()).await?;
        let ends_at = session_ends_at(&app.context, caller.role, ends_at);
        Ok(SessionLife::Session { session: caller.session, ends_at })
    }
}

impl SessionLife {
    /// Whether the session has ended or expired. If the store cannot tell, it counts as ended.
    pub(crate) async fn is_over(&self, app: &AppState) -> bool {
        let now = app.context.now();
        match self {
            SessionLife::Session { session, ends_at } => {
                let is_revoked = app.context.identity.revocations.is_revoked(*session, now).await;
                *ends_at <= now || is_revoked.unwrap_or(true)
            }
            SessionLife::Key(token) => {
                api_keys::authenticate(&app.context, token, now).await.is_err()
            }
        }
    }
}

/// The holder of an access token that we issued. Whether its session has ended is checked where it
/// matters: [`Bearer::confirm`].
pub(crate) struct Bearer {
    pub(crate) caller: Caller,
}

impl FromRequestParts<App> for Bearer {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Bearer, ApiError> {
        Bearer::of(app, access_token(&parts.headers))
    }
}

impl Bearer {
    pub(crate) fn of(app: &AppState, access_token: Option<&str>) -> Result<Bearer, ApiError> {
        let token = access_token.ok_or(Refusal::LoginRequired)?;
        let caller = app.context.identity.sessions.check(token, app.context.now());
        Ok(Bearer { caller: caller.ok_or(Refusal::LoginRequired)? })
    }

    pub(crate) async fn confirm(&self, app: &AppState) -> Result<(), ApiError> {
        let context = &app.context;
        let is_over =
            context.identity.revocations.is_revoked(self.caller.session, context.now()).await?;
        if is_over { Err(Refusal::LoginRequired.into()) } else { Ok(()) }
    }
}

/// A fan who polls with a place token. The token proves the place, so the poll doesn't check
/// whether the session has ended and stays in this process. Without one, the login is checked in
/// full.
pub(crate) struct Poller {
    pub(crate) caller: Option<Caller>,
}

impl FromRequestParts<App> for Poller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Poller, ApiError> {
        Poller::of(app, &ClientHeaders::of(&parts.headers), matched_path(parts)).await
    }
}

impl Poller {
    /// `route` is the template of the path.
    pub(crate) async fn of(
        app: &AppState,
        headers: &ClientHeaders<'_>,
        route: &str,
    ) -> Result<Poller, ApiError> {
        if headers.place_token.is_none() {
            // Rare; boxing keeps the future of every connection small.
            let Fan(caller) = Box::pin(Fan::of(app, headers.access_token, route)).await?;
            return Ok(Poller { caller: Some(caller) });
        }
        let checked = headers.access_token.map(|token| Bearer::of(app, Some(token)));
        Ok(Poller { caller: checked.transpose()?.map(|bearer| bearer.caller) })
    }
}

/// The origin of a request, for the login history.
pub(crate) struct CameFrom(pub(crate) Origin);

impl FromRequestParts<App> for CameFrom {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<CameFrom, Infallible> {
        let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>();
        let ip = peer.map(|ConnectInfo(peer)| peer.ip());
        let agent = parts.headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok());
        Ok(CameFrom(Origin {
            ip: ip.map(|ip| ip.to_canonical().to_string()),
            network: ip.map(|ip| network_of(ip).to_string()),
            agent: agent.map(|text| text.chars().take(300).collect()),
            device: cookies::find(&parts.headers, cookies::DEVICE).map(str::to_owned),
        }))
    }
}

/// Whether the request comes from a phone.
pub(crate) struct OnDevice(pub(crate) Device);

impl FromRequestParts<App> for OnDevice {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<OnDevice, Infallible> {
        let agent = parts.headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok());
        Ok(OnDevice(Device::of(agent.unwrap_or_default())))
    }
}

/// The client's network; limits per address apply to all of it.
pub(crate) struct Network(pub(crate) IpAddr);

impl FromRequestParts<App> for Network {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Network, ApiError> {
        let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>();
        let missing = || Failure::Broken("the request has no client address".into());
        Ok(Network(network_of(peer.ok_or_else(missing)?.0.ip())))
    }
}

/// Takes one of the address's event streams.
pub(crate) fn open_stream(app: &AppState, network: IpAddr) -> Result<Share, ApiError> {
    let share = app.streams_open.take(network, 1);
    share.ok_or_else(|| Refusal::TooManyRequests { retry_after_s: 5 }.into())
}

/// A JSON body: its value, and its bytes for the idempotency key's fingerprint.
pub(crate) struct Body<T> {
    pub(crate) value: T,
    pub(crate) bytes: Bytes,
}

impl<T: DeserializeOwned> FromRequest<App> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &App) -> Result<Body<T>, ApiError> {
        let bytes = read_json(request, BODY_MAX).await?;
        let value = parse(&bytes)?;
        Ok(Body { value, bytes })
    }
}

/// A JSON body as large as a stadium's layout. Only behind an organiser's policy.
pub(crate) struct LargeBody<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<App> for LargeBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &App) -> Result<LargeBody<T>, ApiError> {
        let bytes = read_json(request, LARGE_BODY_MAX).await?;
        Ok(LargeBody(parse(&bytes)?))
    }
}

/// A file that is read as it arrives. Only behind an organiser's policy.
pub(crate) struct Upload {
    body: BodyDataStream,
    n_bytes: usize,
}

/// Largest file: a member list of a million lines.
const UPLOAD_MAX: usize = 256 * 1024 * 1024;

/// Longest pause of a client that uploads a file, which may take longer than other requests.
const UPLOAD_STALL: Duration = Duration::from_secs(30);

impl FromRequest<App> for Upload {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &App) -> Result<Upload, ApiError> {
        Ok(Upload { body: request.into_body().into_data_stream(), n_bytes: 0 })
    }
}

impl Upload {
    /// The next bytes; `None` at the end of the file.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, ApiError> {
        let read = tokio::time::timeout(UPLOAD_STALL, self.body.next()).await;
        let Some(bytes) = read.map_err(|_elapsed| Failure::BodyTooSlow)? else { return Ok(None) };
        let bytes = bytes.map_err(|_error| Failure::BodyTooSlow)?;
        self.n_bytes += bytes.len();
        if self.n_bytes > UPLOAD_MAX {
            return Err(Failure::BodyTooLarge.into());
        }
        Ok(Some(bytes))
    }
}

async fn read_json(request: Request, max: usize) -> Result<Bytes, ApiError> {
    if !is_json(request.headers()) {
        return Err(Failure::NotJson.into());
    }
    read_body(request, max).await
}

/// The only place that reads a whole body, which must arrive before the request's deadline.
async fn read_body(request: Request, max: usize) -> Result<Bytes, ApiError> {
    let Deadline(deadline) = *request.extensions().get().ok_or(Failure::BodyTooSlow)?;
    let read = to_bytes(request.into_body(), max);
    let bytes = tokio::time::timeout_at(deadline.into(), read)
        .await
        .map_err(|_elapsed| Failure::BodyTooSlow)?
        .map_err(|_error| Failure::BodyTooLarge)?;
    Ok(bytes)
}

/// A body of any type: a form, a gateway's webhook.
pub(crate) struct Raw(pub(crate) Bytes);

impl FromRequest<App> for Raw {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &App) -> Result<Raw, ApiError> {
        Ok(Raw(read_body(request, BODY_MAX).await?))
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let given = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let kind = given.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("application/json")
}

pub(crate) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    // serde would accept an array in place of an object, by the order of its fields.
    if bytes.trim_ascii_start().starts_with(b"[") {
        let problem = "invalid type: sequence, expected an object".to_owned();
        return Err(Failure::Field { pointer: ".".into(), problem }.into());
    }
    // Tracking the path to every value costs as much as parsing, so only a failed body is parsed
    // again with it.
    serde_json::from_slice(bytes).or_else(|_fault| parse_or_explain(bytes))
}

fn parse_or_explain<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let path = error.path().to_string();
        let inner = error.into_inner();
        let problem = without_position(&inner.to_string());
        let pointer = pointer_to(path, &problem);
        // serde_json reports a number in place of a string as a syntax error.
        let is_json = serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok();
        match is_json {
            true => Failure::Field { pointer, problem },
            false => Failure::Body { problem },
        }
    })?;
    json.end().map_err(|error| Failure::Body { problem: error.to_string() })?;
    Ok(value)
}

/// The invalid field. serde names a missing field in its message, but not in the path.
fn pointer_to(path: String, problem: &str) -> String {
    let missing = problem.strip_prefix("missing field `").and_then(|rest| rest.strip_suffix('`'));
    match missing {
        Some(field) if path == "." => field.to_owned(),
        Some(field) => format!("{path}.{field}"),
        None => path,
    }
}

/// serde_json ends its messages with a position; the field's name is more useful.
fn without_position(text: &str) -> String {
    text.rsplit_once(" at line ").map_or(text, |(sentence, _)| sentence).to_owned()
}

/// The query string as a validated type.
pub(crate) struct Params<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequestParts<App> for Params<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Params<T>, ApiError> {
        let query = axum::extract::Query::<T>::try_from_uri(&parts.uri);
        query.map(|query| Params(query.0)).map_err(|error| {
            let problem = error.body_text();
            let problem =
                problem.rsplit_once(": ").map_or(problem.clone(), |(_, it)| it.to_owned());
            Failure::Field { pointer: "query".into(), problem }.into()
        })
    }
}

/// The id in the path. A malformed id is not found.
pub(crate) struct Id<T>(pub(crate) T);

impl<T: FromStr> FromRequestParts<App> for Id<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Id<T>, ApiError> {
        let params = RawPathParams::from_request_parts(parts, app).await;
        let params = params.map_err(|_error| Failure::NoRoute)?;
        let first = params.iter().next().and_then(|(_, value)| value.parse().ok());
        first.map(Id).ok_or_else(|| Refusal::NotFound.into())
    }
}

/// The second variable segment of the path.
pub(crate) struct PathText(pub(crate) String);

impl FromRequestParts<App> for PathText {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<PathText, ApiError> {
        let params = RawPathParams::from_request_parts(parts, app).await;
        let params = params.map_err(|_error| Failure::NoRoute)?;
        let second = params.iter().nth(1).map(|(_, value)| value.to_owned());
        second.map(PathText).ok_or_else(|| Refusal::NotFound.into())
    }
}

/// The `Idempotency-Key` of a request, with the body that it covers.
pub(crate) fn key_of(
    headers: &HeaderMap,
    user: UserId,
    endpoint: &'static str,
    body: &[u8],
) -> Result<IdempotencyKey, ApiError> {
    let given = text_of(headers, "idempotency-key");
    Ok(idempotency_key(user, endpoint, given, body)?)
}

pub(crate) fn text_of<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// `?limit=&cursor=` of a list.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct PageParams {
    /// Rows per page, 1 to 100; 20 by default.
    #[param(minimum = 1, maximum = 100)]
    pub(crate) limit: Option<u32>,
    /// `nextCursor` of the previous page.
    pub(crate) cursor: Option<Uuid>,
}

pub(crate) fn page(limit: Option<u32>, cursor: Option<Uuid>) -> Result<PageRequest, ApiError> {
    Ok(PageRequest { limit: page_limit(limit)?, after: cursor })
}

pub(crate) fn page_limit(limit: Option<u32>) -> Result<u32, ApiError> {
    limit_within(limit.unwrap_or(20), PAGE_MAX)
}

pub(crate) fn limit_within(limit: u32, max: u32) -> Result<u32, ApiError> {
    if (1..=max).contains(&limit) {
        return Ok(limit);
    }
    let problem = format!("out_of_range:1..{max}");
    Err(Failure::Field { pointer: "limit".into(), problem }.into())
}
