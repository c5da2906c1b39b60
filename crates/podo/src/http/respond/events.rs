//! Server-sent events: both transports send the same bytes under the same headers.

use bytes::Bytes;
use futures::stream::{self, Stream};
use serde::Serialize;
use std::convert::Infallible;
use std::time::Duration;

pub(crate) const HEADERS: [(&str, &str); 3] = [
    ("content-type", "text/event-stream"),
    ("cache-control", "no-cache"),
    // Keeps proxies from buffering the stream.
    ("x-accel-buffering", "no"),
];

/// An empty comment keeps proxies from timing out, and detects dead clients.
const HEARTBEAT: Bytes = Bytes::from_static(b":\n\n");
const HEARTBEAT_EVERY: Duration = Duration::from_secs(15);

/// What a stream sends. A piece is created only when the connection can take it, so a slow reader
/// gets the latest state, never a backlog.
pub(crate) trait EventSource: Send + 'static {
    /// Waits for the next piece of an event; `None` after the last one. A heartbeat may interrupt
    /// the wait, so dropping it must lose nothing.
    fn next_event(&mut self) -> impl Future<Output = Option<Bytes>> + Send;

    /// The next piece to send: an event, or a heartbeat if there is none for a while.
    fn next_piece(&mut self) -> impl Future<Output = Option<Bytes>> + Send {
        event_within(self, HEARTBEAT_EVERY)
    }
}

async fn event_within(source: &mut (impl EventSource + ?Sized), length: Duration) -> Option<Bytes> {
    let next = tokio::time::timeout(length, source.next_event());
    next.await.unwrap_or(Some(HEARTBEAT))
}

/// The pieces as the body of a response.
pub(crate) fn pieces(
    source: impl EventSource,
) -> impl Stream<Item = Result<Bytes, Infallible>> + Send {
    stream::unfold(source, |mut source| async move {
        let piece = source.next_piece().await?;
        Some((Ok(piece), source))
    })
}

/// An event with JSON, which has no line breaks; `more` are further lines.
pub(crate) fn event(name: &str, data: &impl Serialize, more: &str) -> Bytes {
    let mut text = Vec::with_capacity(512);
    for part in ["event: ", name, "\ndata: "] {
        text.extend_from_slice(part.as_bytes());
    }
    serde_json::to_writer(&mut text, data).expect("an event serializes as JSON");
    for part in ["\n", more, "\n"] {
        text.extend_from_slice(part.as_bytes());
    }
    text.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Has nothing to send.
    struct Silent;

    impl EventSource for Silent {
        fn next_event(&mut self) -> impl Future<Output = Option<Bytes>> + Send {
            std::future::pending()
        }
    }

    #[tokio::test]
    async fn a_silent_stream_has_heartbeats() {
        for _ in 0..2 {
            assert_eq!(event_within(&mut Silent, Duration::ZERO).await, Some(HEARTBEAT));
        }
    }

    #[test]
    fn an_event_has_its_name_its_data_and_an_empty_line() {
        assert_eq!(event("message", &[1, 2], ""), "event: message\ndata: [1,2]\n\n");
        assert_eq!(event("bye", &7, "retry: 5\n"), "event: bye\ndata: 7\nretry: 5\n\n");
    }
}
