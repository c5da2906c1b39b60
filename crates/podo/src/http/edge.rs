//! The steps around every request: the address's rate limit, the node's roles, latency, security
//! headers and problem responses. One function around the router instead of layers in it, because a
//! layer costs more than most handlers.

mod common_headers;
mod detach;
pub(crate) mod embeds;
mod fast_path;
pub(crate) mod gate;
mod host;
mod origin;
mod request_id;
mod routes;
mod spans;
mod transport;

pub(crate) use fast_path::{Call, EdgeHeaders, FastRequest, FastResponse, FastRoute};
pub use request_id::RequestId;
pub use spans::Tracing;

use crate::http::address_budgets::Share;
use crate::http::extract::text_of;
use crate::http::listener::{Connection, HeldBack, Patience};
use crate::http::problem::{ApiError, ApiResult, Failure, render};
use crate::http::proxies::ForwardedHeader;
use crate::http::respond::answer::HotResponse;
use crate::routes::{App, AppState};
use axum::Router;
use axum::extract::ConnectInfo;
use axum::http::{HeaderMap, Request, StatusCode, header};
use axum::response::{IntoResponse, Response};
use common_headers::CommonHeaders;
use detach::DetachOnDrop;
use futures::future::Either;
use hyper::body::{Body, Incoming};
use podo_app::operations::throttling::limits::Quota;
use podo_app::operations::throttling::rate_limits::GateAddress;
use podo_app::operations::traces::{TraceParent, within};
use podo_domain::{Refusal, Timestamp};
use request_id::RequestIds;
use routes::{NamedRoute, Routes};
use spans::Begun;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tower::Service;
use transport::Transport;

/// Smaller responses don't count as unsent bytes.
const SMALL: u64 = 4 * 1024;

/// What a response without a length counts as.
const OF_STREAM: u64 = 64 * 1024;

const TOO_MUCH_UNSENT: Refusal = Refusal::TooManyRequests { retry_after_s: 1 };

/// When the request must have arrived with its body.
#[derive(Clone, Copy)]
pub(crate) struct Deadline(pub(crate) Instant);

/// The budget that a response holds until it is sent.
pub(crate) struct Room {
    _of_connection: HeldBack,
    _of_address: Share,
}

/// A request that has its response.
struct Served<'e> {
    route: NamedRoute<'e>,
    /// Whether an admitted fan made this call.
    is_inside: bool,
    started: Instant,
    begun: Option<Begun>,
}

/// The entrance to the router.
pub struct Edge {
    state: App,
    router: Router,
    routes: Routes,
    request_ids: RequestIds,
    /// Whether this is the admin listener.
    is_inner: bool,
    common_headers: CommonHeaders,
}

impl Edge {
    pub fn new(state: App) -> Edge {
        let router = crate::routes::router(state.clone());
        Edge::around(router, state, false)
    }

    /// The entrance of the admin listener.
    pub fn inner(state: App) -> Edge {
        let router = crate::routes::inner_router(state.clone());
        Edge::around(router, state, true)
    }

    fn around(router: Router, state: App, is_inner: bool) -> Edge {
        let is_encrypted = state.home.starts_with("https://");
        let common_headers = CommonHeaders::new(is_encrypted, state.requests_per_second_per_ip);
        let request_ids = RequestIds::new(&*state.context.rng);
        Edge { state, router, routes: Routes::default(), request_ids, is_inner, common_headers }
    }

    /// Whether the address is a trusted proxy.
    pub fn is_proxy(&self, ip: IpAddr) -> bool {
        self.state.proxies.trusts(ip)
    }

    /// Most open connections per address.
    pub fn connections_per_ip(&self) -> u32 {
        match self.state.context.rules.limits_on {
            true => self.state.connections_per_ip,
            false => u32::MAX,
        }
    }

    /// The deadlines for clients.
    pub fn patience(&self) -> Patience {
        self.state.patience
    }

    /// Unsent bytes that one connection may have: a part of its address's budget, so that a stalled
    /// connection doesn't block the others.
    pub fn unsent_per_connection(&self) -> u64 {
        self.state.unsent.max() / 4
    }

    /// Handles a request whose body must arrive by `deadline`. The response releases its budget
    /// when it is sent.
    pub(crate) async fn answer(
        &self,
        mut request: Request<Incoming>,
        connection: &Arc<Connection>,
        deadline: Instant,
    ) -> (Response, Option<Room>) {
        let started = Instant::now();
        let mut peer = connection.peer;
        peer.set_ip(self.client_of(request.headers(), peer.ip()));
        let route = self.routes.find(request.method(), request.uri().path());
        let is_inside = is_of_those_inside(request.uri().path());
        let manner = Transport::of(request.headers());
        let id = self.request_ids.of(request.headers());
        let begun = self.begin_span(text_of(request.headers(), "traceparent"), &id);
        let trace = begun.as_ref().and_then(Begun::followed);
        let is_api = request.uri().path().starts_with("/api/");
        let other_sites = self.state.embeds.headers_for(&request);
        let allowed = self.let_in(request.uri().path(), peer.ip(), Some(request.headers()));
        let (mut response, n_left) = match (allowed, self.refuse_or_preflight(&request)) {
            (Ok(n_left), Some(response)) => (response, n_left),
            (Ok(n_left), None) => {
                request.extensions_mut().insert(Deadline(deadline));
                (self.hand_over(request, peer, trace).await, n_left)
            }
            (Err(error), _) => (error.into_response(), Some(0)),
        };
        let n_bytes = response.body().size_hint().exact().unwrap_or(OF_STREAM);
        let room = self.find_room(n_bytes, peer.ip(), connection);
        let room = room.unwrap_or_else(|error| {
            response = error.into_response();
            None
        });
        if let Some(error) = response.extensions_mut().remove::<ApiError>() {
            // axum names the allowed methods.
            let allow = response.headers_mut().remove(header::ALLOW);
            response = render(&error, manner.language(), id.as_str());
            response.headers_mut().extend(allow.map(|methods| (header::ALLOW, methods)));
        }
        response.headers_mut().insert(request_id::HEADER, id.header());
        self.common_headers.add_to(response.headers_mut(), n_left.filter(|_| is_api));
        other_sites.add_to(response.headers_mut());
        let served = Served { route, is_inside, started, begun };
        self.record(served, response.status());
        (response, room)
    }

    /// The response to a request that no handler may see: of an ambiguous host, of a page that may not
    /// act, or of a browser that asks before it calls.
    fn refuse_or_preflight<B>(&self, request: &Request<B>) -> Option<Response> {
        if !host::is_one(request) {
            return Some(ApiError::from(Failure::Host).into_response());
        }
        let embeds = &self.state.embeds;
        if let Some(response) = embeds.preflight(request) {
            return Some(response);
        }
        let may_act = origin::is_ours(request, &self.state.home) || embeds.may_act(request);
        (!may_act).then(|| ApiError::from(Failure::ForeignOrigin).into_response())
    }

    /// Reserves unsent bytes of the connection and the address for a response. Small responses need
    /// none: even a second's worth of requests from one address does no harm.
    fn find_room(
        &self,
        n_bytes: u64,
        client: IpAddr,
        connection: &Arc<Connection>,
    ) -> Result<Option<Room>, ApiError> {
        if n_bytes < SMALL || !self.state.context.rules.limits_on {
            return Ok(None);
        }
        let of_connection = connection.hold_back(n_bytes).ok_or(TOO_MUCH_UNSENT)?;
        let of_address = self.state.unsent.take(network_of(client), n_bytes);
        let of_address = of_address.ok_or(TOO_MUCH_UNSENT)?;
        Ok(Some(Room { _of_connection: of_connection, _of_address: of_address }))
    }

    /// The client's address behind the proxies. A header line that is not text is ignored.
    fn client_of(&self, headers: &HeaderMap, peer: IpAddr) -> IpAddr {
        let proxies = &self.state.proxies;
        let name = match proxies.header() {
            ForwardedHeader::XForwardedFor => "x-forwarded-for",
            ForwardedHeader::Forwarded => "forwarded",
        };
        let lines = headers.get_all(name).iter();
        proxies.client(peer, lines.map(|line| line.to_str().unwrap_or("?")))
    }

    /// `None` unless tracing is on.
    fn begin_span(&self, trace_parent: Option<&str>, id: &RequestId) -> Option<Begun> {
        let tracing = self.state.tracing.as_ref()?;
        let context = &self.state.context;
        let span = context.rng.number() | 1;
        Some(tracing.begin(trace_parent, id, span, context.now()))
    }

    /// Handles a request of the fast path, unless it needs the ordinary one. This is decided before
    /// the rate limit, so that each request counts once.
    pub(crate) async fn answer_fast(
        &self,
        request: &FastRequest<'_>,
        connection: &Arc<Connection>,
    ) -> Option<FastResponse> {
        if self.is_inner || !request.is_ours(&self.state.home) {
            return None;
        }
        let started = Instant::now();
        let headers = &request.edge;
        let proxies = &self.state.proxies;
        let line = match proxies.header() {
            ForwardedHeader::XForwardedFor => headers.forwarded_for,
            ForwardedHeader::Forwarded => headers.forwarded,
        };
        let client = proxies.client(connection.peer.ip(), line.into_iter());
        let own_id = headers.request_id.map(str::as_bytes);
        let id = self.request_ids.given(headers.trace_parent.map(str::as_bytes), own_id);
        let route = request.fast_route();
        // Traces cover everything but polls.
        let is_traced = route != FastRoute::Status;
        let begun = is_traced.then(|| self.begin_span(headers.trace_parent, &id)).flatten();
        let trace = begun.as_ref().and_then(Begun::followed);
        let (mut answer, n_left) = match self.let_in(route.template(), client, None) {
            Ok(n_left) => (self.call(request, client, trace).await, n_left),
            Err(error) => (Err(error), Some(0)),
        };
        let mut room = None;
        if let Ok(HotResponse::Events(_)) = answer {
            match self.find_room(OF_STREAM, client, connection) {
                Ok(found) => room = found,
                Err(error) => answer = Err(error),
            }
        }
        let language = request.client.language();
        let response = FastResponse { answer, n_left, language, id, room };
        let is_inside = is_of_those_inside(route.template());
        let served = Served { route: self.routes.fast(route), is_inside, started, begun };
        self.record(served, response.status());
        Some(response)
    }

    /// Counts a response, and ends its span.
    fn record(&self, served: Served<'_>, status: StatusCode) {
        let Served { route, is_inside, started, begun } = served;
        let took = started.elapsed();
        if is_inside {
            record_latency(&self.state, status, took);
        }
        route.count(&self.state.metrics, status, took);
        if let (Some(tracing), Some(begun)) = (&self.state.tracing, begun) {
            let (method, path) = route.name();
            tracing.end(&begun, method, path, status, took);
        }
    }

    /// Calls the handler of a fast request, within its trace if there is one.
    async fn call(
        &self,
        request: &FastRequest<'_>,
        client: IpAddr,
        trace: Option<TraceParent>,
    ) -> ApiResult<HotResponse> {
        let work = request.answer(&self.state, network_of(client));
        match trace {
            Some(trace) => Box::pin(within(trace, work)).await,
            None => work.await,
        }
    }

    /// Writes the response's headers, without those of its body's length.
    pub(crate) fn write_headers(&self, head: &mut Vec<u8>, response: &FastResponse) {
        self.common_headers.write_to(head, response.headers(), response.n_left);
    }

    /// The current time, for the `Date` header.
    pub(crate) fn now(&self) -> Timestamp {
        self.state.context.now()
    }

    /// Checks the address's rate limit and whether this node serves the path. Returns how many
    /// requests remain, if they are counted.
    /// The fast path serves no gate, so it passes no headers.
    fn let_in(
        &self,
        path: &str,
        peer: IpAddr,
        headers: Option<&HeaderMap>,
    ) -> Result<Option<u32>, ApiError> {
        let now = self.state.context.now();
        let is_stewards = headers.is_some_and(|it| gate::is_stewards(&self.state, path, it, now));
        let n_left = match is_stewards {
            true => check_gate_limit(&self.state, peer, now).map(|()| None)?,
            false => check_limit(&self.state, peer, now)?,
        };
        match self.state.roles.serves(path) {
            true => Ok(n_left),
            // The load balancer should have routed this elsewhere.
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
        DetachOnDrop::new(work, self.state.tasks.clone()).await
    }
}

/// Whether an admitted fan makes this call.
fn is_of_those_inside(path: &str) -> bool {
    path.starts_with("/api/booking/") || path.starts_with("/api/payment/")
}

/// The latency of admitted fans' calls controls the admission rate.
fn record_latency(state: &AppState, status: StatusCode, took: Duration) {
    let context = &state.context;
    context.operations.latency_window.note(took, status.is_server_error(), context.now());
}

fn check_limit(state: &AppState, peer: IpAddr, now: Timestamp) -> Result<Option<u32>, ApiError> {
    let context = &state.context;
    if !context.rules.limits_on {
        return Ok(None);
    }
    let quota = Quota::per_second(state.requests_per_second_per_ip);
    let addresses = &context.operations.rate_limits.addresses;
    let allowance = addresses.take(&network_of(peer), quota, now)?;
    Ok(Some(allowance.or_refuse()?))
}

/// All gates behind one address.
fn check_gate_limit(state: &AppState, peer: IpAddr, now: Timestamp) -> Result<(), ApiError> {
    let context = &state.context;
    if !context.rules.limits_on {
        return Ok(());
    }
    let quota = Quota::per_second(state.gate_requests_per_second_per_ip);
    let gates = &context.operations.rate_limits.gates;
    gates.take(&GateAddress(network_of(peer)), quota, now)?.or_refuse()?;
    Ok(())
}

/// An IPv6 network counts as one address, because its owner controls all of it.
pub(crate) fn network_of(ip: IpAddr) -> IpAddr {
    match ip.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => {
            let network = u128::from(address) & (u128::MAX << 64);
            IpAddr::V6(network.into())
        }
    }
}
