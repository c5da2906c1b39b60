//! What every request passes: a trace, limits, time measured, safe headers, problems rendered.

use super::error::{ApiError, Failure, render};
use super::language::Language;
use super::{App, Shared};
use crate::telemetry::RequestLabels;
use app::ports::limits::{Allowance, Quota};
use axum::extract::{ConnectInfo, MatchedPath, Request, State};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use domain::Refusal;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

/// Answers problems in the asker's language; outermost, so that nothing escapes it.
pub(super) async fn render_problems(
    State(shared): State<App>,
    request: Request,
    next: Next,
) -> Response {
    let language = Language::of(request.headers());
    let trace = trace_of(&shared, &request);
    let mut response = next.run(request).await;
    if let Some(error) = response.extensions_mut().remove::<ApiError>() {
        response = render(&error, language, &trace);
    }
    harden(&mut response);
    response
}

/// The caller's W3C trace if there is one, else a fresh one.
fn trace_of(shared: &Shared, request: &Request) -> String {
    let given = request.headers().get("traceparent").and_then(|value| value.to_str().ok());
    let given = given.and_then(|text| text.split('-').nth(1));
    let is_trace = |id: &&str| id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    match given.filter(is_trace) {
        Some(id) => id.to_owned(),
        None => {
            let mut bytes = [0_u8; 16];
            shared.platform.chance.fill(&mut bytes);
            bytes.iter().map(|byte| format!("{byte:02x}")).collect()
        }
    }
}

/// Headers that keep pages and answers from being misused.
fn harden(response: &mut Response) {
    const SAFE: [(HeaderName, &str); 5] = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; \
             form-action 'self'",
        ),
        (header::CACHE_CONTROL, "no-store"),
    ];
    for (name, value) in SAFE {
        response.headers_mut().entry(name).or_insert(HeaderValue::from_static(value));
    }
}

/// Limits by address, and measures.
pub(super) async fn pass(State(shared): State<App>, request: Request, next: Next) -> Response {
    let started = Instant::now();
    let method = known_method(request.method());
    let path = request.extensions().get::<MatchedPath>();
    let route = path.map_or_else(|| "other".to_owned(), |path| path.as_str().to_owned());
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|peer| peer.0.ip());
    let response = match check_limit(&shared, peer).await {
        Ok(()) => next.run(request).await,
        Err(error) => error.into_response(),
    };
    note_vitals(&shared, &route, response.status(), started.elapsed());
    let labels = RequestLabels { method, route, status: response.status().as_u16() };
    shared.metrics.count_request(&labels, started.elapsed());
    response
}

/// How those inside are served decides how many are let in.
fn note_vitals(shared: &Shared, route: &str, status: StatusCode, took: Duration) {
    if route.starts_with("/api/booking/") || route.starts_with("/api/payment/") {
        let platform = &shared.platform;
        platform.vitals.note(took, status.is_server_error(), platform.now());
    }
}

/// A label must not be without end: unknown methods share one.
fn known_method(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::HEAD => "HEAD",
        Method::OPTIONS => "OPTIONS",
        _ => "OTHER",
    }
}

async fn check_limit(shared: &Shared, peer: Option<IpAddr>) -> Result<(), ApiError> {
    let platform = &shared.platform;
    let Some(peer) = peer.filter(|_| platform.rules.limits_on) else { return Ok(()) };
    let burst = shared.requests_per_second_per_ip;
    let quota = Quota { burst, period: Duration::from_secs(1) };
    let key = format!("ip:{}", network_of(peer));
    match shared.address_limits.take(&key, quota, platform.now()).await? {
        Allowance::Yes { .. } => Ok(()),
        Allowance::No { retry_after } => {
            let retry_after_s = retry_after.as_secs() + 1;
            Err(Refusal::TooManyRequests { retry_after_s }.into())
        }
    }
}

/// A whole IPv6 network counts as one address: its owner has all of them.
fn network_of(ip: IpAddr) -> IpAddr {
    match ip.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => {
            let network = u128::from(address) & (u128::MAX << 64);
            IpAddr::V6(network.into())
        }
    }
}

/// A node answers only for its roles; the load balancer should have sent this elsewhere.
pub(super) async fn keep_to_roles(
    State(shared): State<App>,
    request: Request,
    next: Next,
) -> Response {
    if shared.roles.serves(request.uri().path()) {
        return next.run(request).await;
    }
    ApiError::from(Failure::NotServedHere).into_response()
}

/// Work that changes something goes on when the client hangs up: half a payment is worse than an
/// answer nobody reads.
pub(super) async fn detach(State(shared): State<App>, request: Request, next: Next) -> Response {
    if request.method().is_safe() {
        return next.run(request).await;
    }
    let work = shared.tasks.spawn(next.run(request));
    match work.await {
        Ok(response) => response,
        Err(error) => {
            tracing::error!(%error, "A handler ended without an answer");
            ApiError::from(Failure::Broken("a handler panicked".into())).into_response()
        }
    }
}
