//! What every request passes: its address's limit, the node's roles, time measured, safe headers,
//! problems rendered. One function around the router instead of layers in it: a layer costs more
//! than most handlers do.

mod ask;
mod common_headers;
mod host;
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
use crate::shares::Share;
use crate::web::{Connection, HeldBack, Patience};
use app::ports::limits::Quota;
use app::traces::{TraceParent, within};
use axum::Router;
use axum::extract::ConnectInfo;
use axum::http::{Request, StatusCode, header};
use axum::response::{IntoResponse, Response};
use common_headers::CommonHeaders;
use domain::{Refusal, Timestamp};
use futures::future::Either;
use hyper::body::{Body, Incoming};
use manner::Manner;
use request_id::RequestIds;
use routes::Routes;
use spans::Begun;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tower::Service;
use unstoppable::Unstoppable;

/// Answers below this size are not counted among those that are not sent yet.
const SMALL: u64 = 4 * 1024;

/// What is kept of an answer that has no length.
const OF_STREAM: u64 = 64 * 1024;

const TOO_MUCH_UNSENT: Refusal = Refusal::TooManyRequests { retry_after_s: 1 };

/// When a request has to be here with its body.
#[derive(Clone, Copy)]
pub(super) struct Deadline(pub(super) Instant);

/// What an answer takes until it is sent.
pub(crate) struct Room {
    _of_connection: HeldBack,
    _of_address: Share,
}

/// The door to the router.
pub struct Edge {
    shared: App,
    router: Router,
    routes: Routes,
    request_ids: RequestIds,
    /// Whether only operators come this way.
    is_inner: bool,
    common_headers: CommonHeaders,
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
        let common_headers = CommonHeaders::new(is_encrypted, shared.requests_per_second_per_ip);
        let request_ids = RequestIds::new(&*shared.platform.chance);
        Edge { shared, router, routes: Routes::default(), request_ids, is_inner, common_headers }
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

    /// How long clients may take.
    pub fn patience(&self) -> Patience {
        self.shared.patience
    }

    /// Bytes of answers that one connection may have waiting to be sent: a part of what its address
    /// may, so that one that stands still does not stop the others.
    pub fn unsent_per_connection(&self) -> u64 {
        self.shared.unsent.max() / 4
    }

    /// Answers a request whose body has to be here at a `deadline`. The room that the answer needs is
    /// given back when it is sent.
    pub(crate) async fn answer(
        &self,
        mut request: Request<Incoming>,
        connection: &Arc<Connection>,
        deadline: Instant,
    ) -> (Response, Option<Room>) {
        let started = Instant::now();
        let mut peer = connection.peer;
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
            Ok(n_left) if !host::is_one(&request) => {
                (ApiError::from(Failure::Host).into_response(), n_left)
            }
            Ok(n_left) if !origin::is_ours(&request, &self.shared.home) => {
                (ApiError::from(Failure::ForeignOrigin).into_response(), n_left)
            }
            Ok(n_left) => {
                request.extensions_mut().insert(Deadline(deadline));
                (self.hand_over(request, peer, trace).await, n_left)
            }
            Err(error) => (error.into_response(), Some(0)),
        };
        let room = self.find_room(&response, peer.ip(), connection);
        if room.is_err() {
            response = ApiError::from(TOO_MUCH_UNSENT).into_response();
        }
        if let Some(error) = response.extensions_mut().remove::<ApiError>() {
            // axum names the methods that would do.
            let allow = response.headers_mut().remove(header::ALLOW);
            response = render(&error, manner.language(), id.as_str());
            response.headers_mut().extend(allow.map(|methods| (header::ALLOW, methods)));
        }
        response.headers_mut().insert(request_id::HEADER, id.header());
        self.common_headers.add_to(response.headers_mut(), n_left.filter(|_| is_api));
        if is_inside {
            note_vitals(&self.shared, response.status(), started.elapsed());
        }
        let took = started.elapsed();
        route.count(&self.shared.metrics, method, response.status(), took);
        if let (Some(tracing), Some(begun)) = (&self.shared.tracing, begun) {
            tracing.end(&begun, route.name(method), response.status(), took);
        }
        (response, room.ok().flatten())
    }

    /// Room for an answer among those that its connection and its address have not taken yet. Small
    /// ones need none: as many as an address may ask for in a second do no harm.
    fn find_room(
        &self,
        response: &Response,
        client: IpAddr,
        connection: &Arc<Connection>,
    ) -> Result<Option<Room>, ()> {
        let n_bytes = response.body().size_hint().exact().unwrap_or(OF_STREAM);
        if n_bytes < SMALL || !self.shared.platform.rules.limits_on {
            return Ok(None);
        }
        let of_connection = connection.hold_back(n_bytes).ok_or(())?;
        let of_address = self.shared.unsent.take(network_of(client), n_bytes).ok_or(())?;
        Ok(Some(Room { _of_connection: of_connection, _of_address: of_address }))
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

    /// The answer to what the crowd of an opening asks, unless it takes the ordinary way. That is
    /// decided before anything is counted: a request is counted once.
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
        let told = match self.let_in(ask.wish.path(), client) {
            Ok(n_left) => ask.answer(&self.shared, n_left).await,
            Err(error) => ask.refuse(error, Some(0)),
        };
        let took = started.elapsed();
        if is_of_those_inside(ask.wish.path()) {
            note_vitals(&self.shared, told.status(), took);
        }
        self.routes.asked(ask.wish).count(&self.shared.metrics, told.status(), took);
        Some(told)
    }

    /// The headers of an answer that every answer has.
    pub fn write_common_headers(&self, head: &mut Vec<u8>, told: &Told) {
        self.common_headers.write_to(head, told.n_left());
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

/// Is this a call of somebody who was let in?
fn is_of_those_inside(path: &str) -> bool {
    path.starts_with("/api/booking/") || path.starts_with("/api/payment/")
}

/// How those inside are served decides how many are let in.
fn note_vitals(shared: &Shared, status: StatusCode, took: Duration) {
    let platform = &shared.platform;
    platform.vitals.note(took, status.is_server_error(), platform.now());
}

fn check_limit(shared: &Shared, peer: IpAddr) -> Result<Option<u32>, ApiError> {
    let platform = &shared.platform;
    if !platform.rules.limits_on {
        return Ok(None);
    }
    let quota = Quota::per_second(shared.requests_per_second_per_ip);
    let addresses = &platform.rate_limits.addresses;
    let allowance = addresses.take(&network_of(peer), quota, platform.now())?;
    Ok(Some(allowance.or_refuse()?))
}

/// A whole IPv6 network counts as one address: its owner has all of them.
pub(crate) fn network_of(ip: IpAddr) -> IpAddr {
    match ip.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => {
            let network = u128::from(address) & (u128::MAX << 64);
            IpAddr::V6(network.into())
        }
    }
}
