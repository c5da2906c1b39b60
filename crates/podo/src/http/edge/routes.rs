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
    fast: [ResolvedRoute; FastRoute::ALL.len()],
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
                .at(fast.path())
                .expect("fast-path routes are in the OpenAPI document")
                .value
                .clone();
            let method = METHODS.iter().position(|name| *name == fast.method());
            ResolvedRoute { route, method: method.expect("fast-path routes use GET or POST") }
        });
        Routes { known, other: Route::new("other"), fast }
    }
}

impl Routes {
    pub(crate) fn find(&self, path: &str) -> &Route {
        self.known.at(path).map_or(&self.other, |found| found.value)
    }

    pub(crate) fn fast(&self, route: FastRoute) -> &ResolvedRoute {
        &self.fast[route as usize]
    }
}

/// A route that needs no lookup.
pub(crate) struct ResolvedRoute {
    route: Arc<Route>,
    method: usize,
}

impl ResolvedRoute {
    pub(crate) fn count(&self, metrics: &Metrics, status: StatusCode, took: Duration) {
        self.route.count(metrics, self.method, status, took);
    }
}

pub(crate) struct Route {
    template: &'static str,
    /// Histograms by method and status, each looked up once.
    times: Box<[[OnceLock<Histogram>; STATUSES.len()]; METHODS.len()]>,
}

impl Route {
    fn new(template: &'static str) -> Route {
        Route { template, times: Box::default() }
    }

    /// The method and the template.
    pub(crate) fn name(&self, method: usize) -> (&'static str, &'static str) {
        (METHODS[method], self.template)
    }

    pub(crate) fn count(
        &self,
        metrics: &Metrics,
        method: usize,
        status: StatusCode,
        took: Duration,
    ) {
        let status = status.as_u16();
        let labels = RequestLabels { method: METHODS[method], route: self.template, status };
        let find = || metrics.request_times(&labels);
        let seconds = took.as_secs_f64();
        match STATUSES.binary_search(&status) {
            Ok(index) => self.times[method][index].get_or_init(find).observe(seconds),
            Err(_unusual) => find().observe(seconds),
        }
    }
}

/// The method's index. Unknown methods share one, so that the label's cardinality stays bounded.
pub(crate) fn known_method(method: &Method) -> usize {
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
        assert_eq!(routes.find(id).template, "/api/events/{id}");
        assert_eq!(routes.find("/api/queue/status").template, "/api/queue/status");
        assert_eq!(routes.find("/livez").template, "/livez");
        assert_eq!(routes.find("/wp-login.php").template, "other");
    }

    #[test]
    fn every_answer_is_counted_under_its_name() {
        let (routes, metrics) = (Routes::default(), Metrics::new());
        let count = |method: Method, status: u16| {
            let status = StatusCode::from_u16(status).unwrap();
            let route = routes.find("/livez");
            route.count(&metrics, known_method(&method), status, Duration::from_millis(1));
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
