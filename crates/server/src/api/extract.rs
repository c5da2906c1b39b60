//! What handlers take from a request, each with a clear problem when it is not there.

use super::edge::{Deadline, network_of};
use super::error::{ApiError, Failure};
use super::{App, Shared, cookies};
use crate::shares::Share;
use app::accounts::{Origin, authenticate, authenticate_until, session_ends_at};
use app::keys::key_use;
use app::paging::{PAGE_MAX, PageAsk};
use app::ports::keys::KeyUse;
use app::ports::limits::Quota;
use app::rate_limits::UserRoute;
use app::sessions::Caller;
use axum::body::{Bytes, to_bytes};
use axum::extract::{
    ConnectInfo, FromRequest, FromRequestParts, MatchedPath, RawPathParams, Request,
};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use domain::{Refusal, SessionId, Timestamp, UserId};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;
use uuid::Uuid;

pub(super) mod policy;
mod staff;

pub(super) use policy::guarded;
pub(super) use staff::{
    Admin, AuditedAdmin, AuditedExport, AuditedViewer, RequireRecentAuth, Viewer,
};

/// Largest body accepted.
const BODY_MAX: usize = 64 * 1024;

/// The same for a layout: sixty thousand seats drawn one by one.
const LARGE_BODY_MAX: usize = 16 * 1024 * 1024;

/// A person who is logged in.
pub(super) struct Fan(pub(super) Caller);

impl FromRequestParts<App> for Fan {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Fan, ApiError> {
        let token = access_token(&parts.headers).ok_or(Refusal::LoginRequired)?;
        let caller = authenticate(&app.platform, token, app.platform.now()).await?;
        let route = parts.extensions.get::<MatchedPath>().map_or("", MatchedPath::as_str);
        check_user_limit(app, caller.user, route)?;
        Ok(Fan(caller))
    }
}

/// Whether this person has not called this route too often.
pub(super) fn check_user_limit(app: &Shared, user: UserId, route: &str) -> Result<(), ApiError> {
    if !app.platform.rules.limits_on {
        return Ok(());
    }
    let quota = Quota::per_minute(app.requests_per_minute_per_user);
    let users = &app.platform.rate_limits.users;
    users.take(&UserRoute::new(user, route), quota, app.platform.now())?.or_refuse()?;
    Ok(())
}

/// The access token: a program's in the `Authorization` header, a browser's in its cookie.
fn access_token(headers: &HeaderMap) -> Option<&str> {
    match text_of(headers, "authorization") {
        Some(given) => bearer(given),
        None => cookies::find(headers, cookies::ACCESS),
    }
}

/// The token in an `Authorization` header.
pub(super) fn bearer(given: &str) -> Option<&str> {
    let (scheme, token) = given.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
}

/// How long a session lives, for answers that go on after the request was allowed.
pub(super) struct SessionLife {
    session: SessionId,
    ends_at: Timestamp,
}

impl FromRequestParts<App> for SessionLife {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<SessionLife, ApiError> {
        let token = access_token(&parts.headers).ok_or(Refusal::LoginRequired)?;
        let (caller, ends_at) =
            authenticate_until(&app.platform, token, app.platform.now()).await?;
        let ends_at = session_ends_at(&app.platform, caller.role, ends_at);
        Ok(SessionLife { session: caller.session, ends_at })
    }
}

impl SessionLife {
    /// Whether the session has ended, or was not renewed in its time. When nobody can tell, it has.
    pub(super) async fn is_over(&self, app: &Shared) -> bool {
        let now = app.platform.now();
        let is_revoked = app.platform.revocations.is_revoked(self.session, now).await;
        self.ends_at <= now || is_revoked.unwrap_or(true)
    }
}

/// Somebody with an access token that we issued. Whether the session was ended since is asked
/// when it matters: [`Bearer::confirm`].
pub(super) struct Bearer {
    pub(super) caller: Caller,
}

impl FromRequestParts<App> for Bearer {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Bearer, ApiError> {
        let token = access_token(&parts.headers).ok_or(Refusal::LoginRequired)?;
        Bearer::of(app, token)
    }
}

impl Bearer {
    pub(super) fn of(app: &Shared, token: &str) -> Result<Bearer, ApiError> {
        let caller = app.platform.sessions.check(token, app.platform.now());
        Ok(Bearer { caller: caller.ok_or(Refusal::LoginRequired)? })
    }

    pub(super) async fn confirm(&self, app: &Shared) -> Result<(), ApiError> {
        let platform = &app.platform;
        let is_over = platform.revocations.is_revoked(self.caller.session, platform.now()).await?;
        if is_over { Err(Refusal::LoginRequired.into()) } else { Ok(()) }
    }
}

/// Somebody who polls with a place token. The token proves the place, so nobody is asked whether
/// the session has ended meanwhile: a poll stays in this process. Without one it is the log-in
/// that counts, in full.
pub(super) struct Poller {
    pub(super) caller: Option<Caller>,
    pub(super) place_token: Option<String>,
}

pub(super) const PLACE_TOKEN: &str = "queue-token";

impl FromRequestParts<App> for Poller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Poller, ApiError> {
        let Some(place_token) = text_of(&parts.headers, PLACE_TOKEN).map(str::to_owned) else {
            let Fan(caller) = Fan::from_request_parts(parts, app).await?;
            return Ok(Poller { caller: Some(caller), place_token: None });
        };
        let caller = match access_token(&parts.headers) {
            Some(token) => {
                let caller = app.platform.sessions.check(token, app.platform.now());
                Some(caller.ok_or(Refusal::LoginRequired)?)
            }
            None => None,
        };
        Ok(Poller { caller, place_token: Some(place_token) })
    }
}

/// Where a request came from, for the login history.
pub(super) struct CameFrom(pub(super) Origin);

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

/// The network that a request came from: what belongs to an address belongs to all of it.
pub(super) struct Network(pub(super) IpAddr);

impl FromRequestParts<App> for Network {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Network, ApiError> {
        let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>();
        let missing = || Failure::Broken("a request without an address".into());
        Ok(Network(network_of(peer.ok_or_else(missing)?.0.ip())))
    }
}

/// Takes one of the streams that an address may listen to.
pub(super) fn open_stream(app: &Shared, network: IpAddr) -> Result<Share, ApiError> {
    let share = app.streams_open.take(network, 1);
    share.ok_or_else(|| Refusal::TooManyRequests { retry_after_s: 5 }.into())
}

/// A JSON body: its value, and its bytes for the idempotency key's fingerprint.
pub(super) struct Body<T> {
    pub(super) value: T,
    pub(super) bytes: Bytes,
}

impl<T: DeserializeOwned> FromRequest<App> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &App) -> Result<Body<T>, ApiError> {
        let bytes = read_json(request, BODY_MAX).await?;
        let value = parse(&bytes)?;
        Ok(Body { value, bytes })
    }
}

/// A JSON body that may be as large as the layout of a stadium. Only after an organiser's policy.
pub(super) struct LargeBody<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequest<App> for LargeBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &App) -> Result<LargeBody<T>, ApiError> {
        let bytes = read_json(request, LARGE_BODY_MAX).await?;
        Ok(LargeBody(parse(&bytes)?))
    }
}

async fn read_json(request: Request, max: usize) -> Result<Bytes, ApiError> {
    if !is_json(request.headers()) {
        return Err(Failure::NotJson.into());
    }
    read_body(request, max).await
}

/// The one way to read a body: it has to be here when the time of its request is over.
async fn read_body(request: Request, max: usize) -> Result<Bytes, ApiError> {
    let Deadline(deadline) = *request.extensions().get().ok_or(Failure::BodyTooSlow)?;
    let read = to_bytes(request.into_body(), max);
    let bytes = tokio::time::timeout_at(deadline.into(), read)
        .await
        .map_err(|_elapsed| Failure::BodyTooSlow)?
        .map_err(|_error| Failure::BodyTooLarge)?;
    Ok(bytes)
}

/// A body of any kind: a form, a message of a payment company.
pub(super) struct Raw(pub(super) Bytes);

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

pub(super) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    // serde would take the members of an object from an array, by their order.
    if bytes.trim_ascii_start().starts_with(b"[") {
        let problem = "invalid type: sequence, expected an object".to_owned();
        return Err(Failure::Field { pointer: ".".into(), problem }.into());
    }
    // Following the path to every value costs as much as reading it; it is followed only to a fault.
    serde_json::from_slice(bytes).or_else(|_fault| parse_or_explain(bytes))
}

fn parse_or_explain<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let path = error.path().to_string();
        let inner = error.into_inner();
        let problem = without_position(&inner.to_string());
        let pointer = pointer_to(path, &problem);
        // serde_json calls a number in the place of a word a fault of syntax.
        let is_json = serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok();
        match is_json {
            true => Failure::Field { pointer, problem },
            false => Failure::Body { problem },
        }
    })?;
    json.end().map_err(|error| Failure::Body { problem: error.to_string() })?;
    Ok(value)
}

/// The field at fault. serde names a missing one in its sentence, but not in the path.
fn pointer_to(path: String, problem: &str) -> String {
    let missing = problem.strip_prefix("missing field `").and_then(|rest| rest.strip_suffix('`'));
    match missing {
        Some(field) if path == "." => field.to_owned(),
        Some(field) => format!("{path}.{field}"),
        None => path,
    }
}

/// serde_json ends its sentences with a position; the field's name says it better.
fn without_position(text: &str) -> String {
    text.rsplit_once(" at line ").map_or(text, |(sentence, _)| sentence).to_owned()
}

/// The query string as a checked type.
pub(super) struct Params<T>(pub(super) T);

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

/// The id in the path. One that is no id names nothing.
pub(super) struct Id<T>(pub(super) T);

impl<T: FromStr> FromRequestParts<App> for Id<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Id<T>, ApiError> {
        let params = RawPathParams::from_request_parts(parts, app).await;
        let params = params.map_err(|_error| Failure::NoRoute)?;
        let first = params.iter().next().and_then(|(_, value)| value.parse().ok());
        first.map(Id).ok_or_else(|| Refusal::NotFound.into())
    }
}

/// The second part of a path that varies.
pub(super) struct PathText(pub(super) String);

impl FromRequestParts<App> for PathText {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<PathText, ApiError> {
        let params = RawPathParams::from_request_parts(parts, app).await;
        let params = params.map_err(|_error| Failure::NoRoute)?;
        let second = params.iter().nth(1).map(|(_, value)| value.to_owned());
        second.map(PathText).ok_or_else(|| Refusal::NotFound.into())
    }
}

/// The `Idempotency-Key` of a request, with the body that it belongs to.
pub(super) fn key_of(
    headers: &HeaderMap,
    user: UserId,
    endpoint: &'static str,
    body: &[u8],
) -> Result<KeyUse, ApiError> {
    let given = text_of(headers, "idempotency-key");
    Ok(key_use(user, endpoint, given, body)?)
}

pub(super) fn text_of<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// `?limit=&cursor=` of a list.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct PageParams {
    /// Rows of a page, 1 to 100; 20 when left out.
    #[param(minimum = 1, maximum = 100)]
    pub(super) limit: Option<u32>,
    /// `nextCursor` of the page before.
    pub(super) cursor: Option<Uuid>,
}

pub(super) fn page(limit: Option<u32>, cursor: Option<Uuid>) -> Result<PageAsk, ApiError> {
    Ok(PageAsk { limit: page_limit(limit)?, after: cursor })
}

pub(super) fn page_limit(limit: Option<u32>) -> Result<u32, ApiError> {
    let limit = limit.unwrap_or(20);
    if (1..=PAGE_MAX).contains(&limit) {
        return Ok(limit);
    }
    let problem = format!("out_of_range:1..{PAGE_MAX}");
    Err(Failure::Field { pointer: "limit".into(), problem }.into())
}
