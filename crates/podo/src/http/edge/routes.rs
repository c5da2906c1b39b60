//! Routes by template, as metric labels: ids would make their cardinality unbounded.

use crate::http::edge::fast_path::FastRoute;
use crate::telemetry::{Metrics, RequestLabels};
use axum::http::{Method, StatusCode};
use prometheus_client::metrics::histogram::Histogram;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Routes missing from the OpenAPI document.
const UNDOCUMENTED: [&str; 7] =
    ["/", "/livez", "/readyz", "/healthz", "/metrics", "/problems", "/api/openapi.json"];

const METHODS: [&str; 8] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "OTHER"];

/// Statuses with a cached histogram; others are counted too, but slower.
const STATUSES: [u16; 22] = [
    200, 201, 202, 204, 301, 302, 303, 304, 400, 401, 402, 403, 404, 405, 408, 409, 413, 415, 422,
    429, 500, 503,
];

pub(crate) struct Routes {
    known: matchit::Router<Arc<Route>>,
    other: Route,
    /// Routes of the fast path, in the order of `FastRoute::ALL`.
    fast: [(Arc<Route>, usize); FastRoute::ALL.len()],
}

impl Default for Routes {
    fn default() -> Routes {
        let documented = crate::routes::openapi().paths.paths.into_keys();
        let mut known = matchit::Router::new();
        for template in documented.chain(UNDOCUMENTED.map(str::to_owned)) {
            let route = Arc::new(Route::new(template.leak()));
            known.insert(route.template, route).expect("axum accepts the same templates");
        }
        let fast = FastRoute::ALL.map(|fast| {
            let route = known
                .at(fast.template())
                .expect("fast-path routes are in the OpenAPI document")
                .value
                .clone();
            let method = METHODS.iter().position(|name| *name == fast.method());
            (route, method.expect("fast-path routes use GET or POST"))
        });
        Routes { known, other: Route::new("other"), fast }
    }
}

impl Routes {
    pub(crate) fn find(&self, method: &Method, path: &str) -> NamedRoute<'_> {
        let route = self.known.at(path).map_or(&self.other, |found| found.value);
        NamedRoute { route, method: known_method(method) }
    }

    /// Needs no lookup.
    pub(crate) fn fast(&self, route: FastRoute) -> NamedRoute<'_> {
        let (route, method) = &self.fast[route as usize];
        NamedRoute { route, method: *method }
    }
}

/// A route with the index of the request's method.
#[derive(Clone, Copy)]
pub(crate) struct NamedRoute<'r> {
    route: &'r Route,
    method: usize,
}

impl NamedRoute<'_> {
    /// The method and the template.
    pub(crate) fn name(self) -> (&'static str, &'static str) {
        (METHODS[self.method], self.route.template)
    }

    pub(crate) fn count(self, metrics: &Metrics, status: StatusCode, took: Duration) {
        let (method, route) = self.name();
        let status = status.as_u16();
        let find = || metrics.request_times(&RequestLabels { method, route, status });
        let seconds = took.as_secs_f64();
        match STATUSES.binary_search(&status) {
            Ok(index) => self.route.times[self.method][index].get_or_init(find).observe(seconds),
            Err(_unusual) => find().observe(seconds),
        }
    }
}

struct Route {
    template: &'static str,
    /// Histograms by method and status, each looked up once.
    times: Box<[[OnceLock<Histogram>; STATUSES.len()]; METHODS.len()]>,
}

impl Route {
    fn new(template: &'static str) -> Route {
        Route { template, times: Box::default() }
    }
}

/// The method's index. Unknown methods share one, so that the label's cardinality stays bounded.
fn known_method(method: &Method) -> usize {
    let known = METHODS.iter().position(|name| *name == method.as_str());
    known.unwrap_or(METHODS.len() - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_named_by_its_template() {
        let routes = Routes::default();
        let id = "/api/events/0190a000-0000-7000-8000-000000000000";
        let named = |path: &str| routes.find(&Method::GET, path).name();
        assert_eq!(named(id), ("GET", "/api/events/{id}"));
        assert_eq!(named("/api/queue/status"), ("GET", "/api/queue/status"));
        assert_eq!(named("/livez"), ("GET", "/livez"));
        assert_eq!(named("/wp-login.php"), ("GET", "other"));
        for fast in FastRoute::ALL {
            assert_eq!(routes.fast(fast).name(), (fast.method(), fast.template()));
        }
    }

    #[test]
    fn every_answer_is_counted_under_its_name() {
        let (routes, metrics) = (Routes::default(), Metrics::new());
        let count = |method: Method, status: u16| {
            let status = StatusCode::from_u16(status).unwrap();
            routes.find(&method, "/livez").count(&metrics, status, Duration::from_millis(1));
        };
        count(Method::GET, 200);
        count(Method::GET, 200);
        count(Method::from_bytes(b"BREW").unwrap(), 418);
        let text = metrics.encode();
        let counted = |labels: &str| {
            let name = "podo_http_server_request_duration_seconds_count";
            text.lines().find_map(|line| line.strip_prefix(&format!("{name}{{{labels}}} ")))
        };
        assert_eq!(counted(r#"method="GET",route="/livez",status="200""#), Some("2"));
        assert_eq!(counted(r#"method="OTHER",route="/livez",status="418""#), Some("1"));
    }
}
