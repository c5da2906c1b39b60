//! The origin of a request or message (W3C trace context). A task-local carries the current trace
//! with the future that works on it; a message stores it in the outbox.

use podo_domain::Timestamp;
use std::fmt;
use tokio::task::futures::TaskLocalFuture;

/// A sampled trace and its current span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceParent {
    pub trace: u128,
    pub span: u64,
}

impl fmt::Display for TraceParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "00-{:032x}-{:016x}-01", self.trace, self.span)
    }
}

impl TraceParent {
    /// Parses `00-<trace>-<span>-<flags>`, and whether the sender samples it. `None` if it isn't
    /// valid.
    pub fn parse(text: &str) -> Option<(TraceParent, bool)> {
        let mut parts = text.split('-');
        let [version, trace, span, flags] = std::array::from_fn(|_| parts.next().unwrap_or(""));
        let is_hex = |part: &str, length: usize| {
            part.len() == length && part.bytes().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'))
        };
        if !is_hex(version, 2) || version == "ff" || !is_hex(flags, 2) {
            return None;
        }
        let trace = u128::from_str_radix(trace, 16).ok().filter(|it| *it != 0 && is_hex(trace, 32));
        let span = u64::from_str_radix(span, 16).ok().filter(|it| *it != 0 && is_hex(span, 16));
        let is_followed = u8::from_str_radix(flags, 16).ok()? & 1 == 1;
        Some((TraceParent { trace: trace?, span: span? }, is_followed))
    }
}

tokio::task_local! {
    static CURRENT: TraceParent;
}

/// The trace of the current task.
pub fn current() -> Option<TraceParent> {
    CURRENT.try_with(|it| *it).ok()
}

/// Runs work as part of a trace, on whatever thread polls it.
pub fn within<F: Future>(trace: TraceParent, work: F) -> TaskLocalFuture<TraceParent, F> {
    CURRENT.scope(trace, work)
}

/// A finished span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    pub at: TraceParent,
    /// The parent span.
    pub parent: Option<u64>,
    pub name: String,
    pub kind: SpanKind,
    pub started_at: Timestamp,
    pub took_us: u64,
    pub is_failed: bool,
    pub attributes: Vec<(&'static str, String)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanKind {
    /// A handled request.
    Server,
    /// A processed message.
    Consumer,
}

/// The destination of spans. Never blocks: spans that don't fit are dropped.
pub trait Spans: Send + Sync {
    fn record(&self, span: Span);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_written_as_it_was_read() {
        let text = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let (parent, is_followed) = TraceParent::parse(text).unwrap();
        assert_eq!((parent.to_string().as_str(), is_followed), (text, true));
        let silent = text.replace("-01", "-00");
        assert_eq!(TraceParent::parse(&silent), Some((parent, false)));
        for nonsense in [
            "",
            "00-1-2-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
        ] {
            assert_eq!(TraceParent::parse(nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn the_trace_goes_with_the_work_and_ends_with_it() {
        let trace = TraceParent { trace: 1, span: 2 };
        let seen = futures::executor::block_on(within(trace, async { current() }));
        assert_eq!((seen, current()), (Some(trace), None));
    }
}
