//! What every request passes: its address's limit, the node's roles, time measured, safe headers,
//! problems rendered. One function around the router instead of layers in it: a layer costs more
//! than most handlers do.

mod ask;
mod manner;
mod origin;
mod request_id;
mod routes;
mod spans;
mod unstoppable;

pub use ask::{Ask, Headers, Told, Wish, schedule_in_body, schedule_in_query, seats_in_body};
pub use request_id::RequestId;
pub use spans::Tracing;

use super::error::{ApiError, Failure, render};
use super::{App, Shared};
use crate::proxies::ForwardedHeader;
use app::ports::limits::Quota;
use app::traces::{TraceParent, within};
use axum::Router;
use axum::extract::ConnectInfo;
use axum::http::{HeaderName, HeaderValue, Request, StatusCode, header};
use axum::response::{IntoResponse, Response};
use domain::Timestamp;
use futures::future::Either;
use hyper::body::Incoming;
use manner::Manner;
use request_id::RequestIds;
use routes::Routes;
use spans::Begun;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};
use tower::Service;
use unstoppable::Unstoppable;

/// The door to the router.
pub struct Edge {
    shared: App,
    router: Router,
    routes: Routes,
    request_ids: RequestIds,
    /// Whether only operators come this way.
    is_inner: bool,
    /// Whether fans reach us by https: then browsers are told to stay there.
    is_encrypted: bool,
}

impl Edge {
    pub fn new(shared: App) -> Edge {
        let router = super::router(shared.clone());
        Edge::around(router, shared, false)
    }

    /// The door to what only operators see.
    pub fn inner(shared: App) -> Edge {
        let router = super::inner_router(shared.clone());
        Edge::around(router, shared, true)
    }

    fn around(router: Router, shared: App, is_inner: bool) -> Edge {
        let is_encrypted = shared.home.starts_with("https://");
        let request_ids = RequestIds::new(&*shared.platform.chance);
        Edge { shared, router, routes: Routes::default(), request_ids, is_inner, is_encrypted }
    }

    /// Whether an address is a proxy of ours.
    pub fn is_proxy(&self, ip: IpAddr) -> bool {
        self.shared.proxies.trusts(ip)
    }

    /// How many connections one address may have open.
    pub fn connections_per_ip(&self) -> u32 {
        match self.shared.platform.rules.limits_on {
            true => self.shared.connections_per_ip,
            false => u32::MAX,
        }
    }

    pub async fn answer(&self, request: Request<Incoming>, mut peer: SocketAddr) -> Response {
        let started = Instant::now();
        peer.set_ip(self.client_of(&request, peer.ip()));
        let route = self.routes.find(request.uri().path());
        let method = routes::known_method(request.method());
        let is_inside = is_of_those_inside(request.uri().path());
        let manner = Manner::of(request.headers());
        let id = self.request_ids.of(request.headers());
        let begun = self.begin_span(&request, &id);
        let trace = begun.as_ref().and_then(Begun::followed);
        let is_api = request.uri().path().starts_with("/api/");
        let (mut response, n_left) = match self.let_in(request.uri().path(), peer.ip()) {
            Ok(n_left) if !origin::is_ours(&request, &self.shared.home) => {
                (ApiError::from(Failure::ForeignOrigin).into_response(), n_left)
            }
            Ok(n_left) => (self.hand_over(request, peer, trace).await, n_left),
            Err(error) => (error.into_response(), Some(0)),
        };
        if let Some(error) = response.extensions_mut().remove::<ApiError>() {
            // axum names the methods that would do.
            let allow = response.headers_mut().remove(header::ALLOW);
            response = render(&error, manner.language(), id.as_str());
            response.headers_mut().extend(allow.map(|methods| (header::ALLOW, methods)));
        }
        harden(&mut response);
        response.headers_mut().insert(request_id::HEADER, id.header());
        if self.is_encrypted {
            let year = HeaderValue::from_static("max-age=31536000; includeSubDomains");
            response.headers_mut().insert(header::STRICT_TRANSPORT_SECURITY, year);
        }
        if let Some(n_left) = n_left.filter(|_| is_api) {
            tell_limit(&mut response, self.shared.requests_per_second_per_ip, n_left);
        }
        if is_inside {
            note_vitals(&self.shared, response.status(), started.elapsed());
        }
        let took = started.elapsed();
        route.count(&self.shared.metrics, method, response.status(), took);
        if let (Some(tracing), Some(begun)) = (&self.shared.tracing, begun) {
            tracing.end(&begun, route.name(method), response.status(), took);
        }
        response
    }

    /// Who asks, behind the proxies. A line that is not text is nobody's address.
    fn client_of(&self, request: &Request<Incoming>, peer: IpAddr) -> IpAddr {
        let proxies = &self.shared.proxies;
        let name = match proxies.header() {
            ForwardedHeader::XForwardedFor => "x-forwarded-for",
            ForwardedHeader::Forwarded => "forwarded",
        };
        let lines = request.headers().get_all(name).iter();
        proxies.client(peer, lines.map(|line| line.to_str().unwrap_or("?")))
    }

    /// Nothing unless somebody follows traces.
    fn begin_span(&self, request: &Request<Incoming>, id: &RequestId) -> Option<Begun> {
        let tracing = self.shared.tracing.as_ref()?;
        let platform = &self.shared.platform;
        let span = platform.chance.number() | 1;
        Some(tracing.begin(request.headers(), id, span, platform.now()))
    }

    /// The answer to what the crowd of an opening asks, if all is well; whatever is not is for the
    /// ordinary way to tell.
    pub async fn ask(&self, ask: &Ask<'_>, peer: SocketAddr) -> Option<Told> {
        // Traces follow all but polls.
        let is_followed = ask.wish != Wish::Status && self.shared.tracing.is_some();
        if self.is_inner || is_followed || !ask.is_ours(&self.shared.home) {
            return None;
        }
        let started = Instant::now();
        let proxies = &self.shared.proxies;
        let line = match proxies.header() {
            ForwardedHeader::XForwardedFor => ask.headers.forwarded_for,
            ForwardedHeader::Forwarded => ask.headers.forwarded,
        };
        let client = proxies.client(peer.ip(), line.into_iter());
        self.let_in(ask.wish.path(), client).ok()?;
        let told = ask.answer(&self.shared).await.ok()?;
        let took = started.elapsed();
        if is_of_those_inside(ask.wish.path()) {
            note_vitals(&self.shared, told.status(), took);
        }
        self.routes.asked(ask.wish).count(&self.shared.metrics, told.status(), took);
        Some(told)
    }

    /// The name of a request.
    pub fn request_id(&self, ask: &Ask<'_>) -> RequestId {
        let own = ask.headers.request_id.map(str::as_bytes);
        self.request_ids.given(ask.headers.trace_parent.map(str::as_bytes), own)
    }

    /// What the clock says, for the date of an answer.
    pub fn now(&self) -> Timestamp {
        self.shared.platform.now()
    }

    /// Whether this address has not asked too much, and whether this node answers such a path; how
    /// many more it may ask, if that is counted.
    fn let_in(&self, path: &str, peer: IpAddr) -> Result<Option<u32>, ApiError> {
        let n_left = check_limit(&self.shared, peer)?;
        match self.shared.roles.serves(path) {
            true => Ok(n_left),
            // The load balancer should have sent this elsewhere.
            false => Err(Failure::NotServedHere.into()),
        }
    }

    async fn hand_over(
        &self,
        mut request: Request<Incoming>,
        peer: SocketAddr,
        trace: Option<TraceParent>,
    ) -> Response {
        request.extensions_mut().insert(ConnectInfo(peer));
        let is_safe = request.method().is_safe();
        let work = self.router.clone().call(request);
        let work = match trace {
            Some(trace) => Either::Left(within(trace, work)),
            None => Either::Right(work),
        };
        if is_safe {
            return work.await.unwrap_or_else(|never| match never {});
        }
        Unstoppable::new(work, self.shared.tasks.clone()).await
    }
}

/// Headers that keep pages and answers from being misused.
fn harden(response: &mut Response) {
    const SAFE: [(HeaderName, HeaderValue); 5] = [
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
        (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
        (
            header::CONTENT_SECURITY_POLICY,
            HeaderValue::from_static(
                "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; \
                 form-action 'self'",
            ),
        ),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    let headers = response.headers_mut();
    headers.reserve(SAFE.len());
    for (name, value) in SAFE {
        headers.entry(name).or_insert(value);
    }
}

/// Is this a call of somebody who was let in?
fn is_of_those_inside(path: &str) -> bool {
    path.starts_with("/api/booking/") || path.starts_with("/api/payment/")
}

/// How those inside are served decides how many are let in.
fn note_vitals(shared: &Shared, status: StatusCode, took: Duration) {
    let platform = &shared.platform;
    platform.vitals.note(took, status.is_server_error(), platform.now());
}

/// Tells a client how much of its share of every second is left.
fn tell_limit(response: &mut Response, burst: u32, n_left: u32) {
    let headers = response.headers_mut();
    let policy = format!("\"address\";q={burst};w=1");
    let left = format!("\"address\";r={n_left};t=1");
    for (name, text) in [("ratelimit-policy", policy), ("ratelimit", left)] {
        if let Ok(value) = HeaderValue::try_from(text) {
            headers.insert(name, value);
        }
    }
}

fn check_limit(shared: &Shared, peer: IpAddr) -> Result<Option<u32>, ApiError> {
    let platform = &shared.platform;
    if !platform.rules.limits_on {
        return Ok(None);
    }
    let quota = Quota { burst: shared.requests_per_second_per_ip, period: Duration::from_secs(1) };
    let allowance = shared.address_limits.take(network_of(peer), quota, platform.now())?;
    Ok(Some(allowance.or_refuse()?))
}

/// A whole IPv6 network counts as one address: its owner has all of them.
pub(super) fn network_of(ip: IpAddr) -> IpAddr {
    match ip.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => {
            let network = u128::from(address) & (u128::MAX << 64);
            IpAddr::V6(network.into())
        }
    }
}
