//! The span of a request, for those who follow traces. Without a collector nothing of this is done.

use super::request_id::RequestId;
use crate::api::extract::text_of;
use app::traces::{Span, SpanKind, Spans, TraceParent};
use axum::http::{HeaderMap, StatusCode};
use domain::Timestamp;
use std::sync::Arc;
use std::time::Duration;

/// Whether and where requests are recorded.
#[derive(Clone)]
pub struct Tracing {
    pub spans: Arc<dyn Spans>,
    /// Of a hundred requests without a caller's trace, so many are followed. Those that fail are
    /// recorded in any case.
    pub percent: u32,
}

/// A request that has begun.
pub(super) struct Begun {
    pub(super) at: TraceParent,
    parent: Option<u64>,
    is_followed: bool,
    started_at: Timestamp,
}

impl Begun {
    /// The trace to go on with, if it is followed.
    pub(super) fn followed(&self) -> Option<TraceParent> {
        self.is_followed.then_some(self.at)
    }
}

impl Tracing {
    /// `span` is a number that nobody else has.
    pub(super) fn begin(
        &self,
        headers: &HeaderMap,
        id: &RequestId,
        span: u64,
        started_at: Timestamp,
    ) -> Begun {
        let given = text_of(headers, "traceparent").and_then(TraceParent::parse);
        let own = u128::from_str_radix(id.as_str(), 16).ok().filter(|trace| *trace != 0);
        let (trace, parent, is_followed) = match given {
            Some((parent, is_followed)) => (parent.trace, Some(parent.span), is_followed),
            None => {
                let trace = own.unwrap_or_else(|| (u128::from(span) << 64) | 1);
                // The low half of a fresh id is scrambled.
                (trace, None, (trace as u64) % 100 < u64::from(self.percent))
            }
        };
        Begun { at: TraceParent { trace, span }, parent, is_followed, started_at }
    }

    pub(super) fn end(
        &self,
        begun: &Begun,
        (method, route): (&'static str, &'static str),
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
