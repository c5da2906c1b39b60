//! The span of a request. Without a collector, nothing here runs.

use crate::http::edge::request_id::RequestId;
use axum::http::StatusCode;
use podo_app::operations::traces::{Span, SpanKind, Spans, TraceParent};
use podo_domain::Timestamp;
use std::sync::Arc;
use std::time::Duration;

/// Where spans go, and how many requests are sampled.
#[derive(Clone)]
pub struct Tracing {
    pub spans: Arc<dyn Spans>,
    /// Percentage of requests that are sampled if the caller sends no trace. Failed requests are
    /// always recorded.
    pub percent: u32,
}

/// A request in progress.
pub(crate) struct Begun {
    pub(crate) at: TraceParent,
    parent: Option<u64>,
    is_followed: bool,
    started_at: Timestamp,
}

impl Begun {
    /// The trace context to propagate, if the request is sampled.
    pub(crate) fn followed(&self) -> Option<TraceParent> {
        self.is_followed.then_some(self.at)
    }
}

impl Tracing {
    /// `span` must be unique.
    pub(crate) fn begin(
        &self,
        trace_parent: Option<&str>,
        id: &RequestId,
        span: u64,
        started_at: Timestamp,
    ) -> Begun {
        let given = trace_parent.and_then(TraceParent::parse);
        let own = u128::from_str_radix(id.as_str(), 16).ok().filter(|trace| *trace != 0);
        let (trace, parent, is_followed) = match given {
            Some((parent, is_followed)) => (parent.trace, Some(parent.span), is_followed),
            None => {
                let trace = own.unwrap_or_else(|| (u128::from(span) << 64) | 1);
                // The low half of a new id is scrambled, hence random enough to sample by.
                (trace, None, (trace as u64) % 100 < u64::from(self.percent))
            }
        };
        Begun { at: TraceParent { trace, span }, parent, is_followed, started_at }
    }

    pub(crate) fn end(
        &self,
        begun: &Begun,
        method: &'static str,
        route: &'static str,
        status: StatusCode,
        took: Duration,
    ) {
        let is_failed = status.is_server_error();
        if !begun.is_followed && !is_failed {
            return;
        }
        self.spans.record(Span {
            at: begun.at,
            parent: begun.parent,
            name: format!("{method} {route}"),
            kind: SpanKind::Server,
            started_at: begun.started_at,
            took_us: u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
            is_failed,
            attributes: vec![
                ("http.request.method", method.to_owned()),
                ("http.route", route.to_owned()),
                ("http.response.status_code", status.as_u16().to_string()),
            ],
        });
    }
}
