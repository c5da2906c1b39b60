//! The accept loop: accepts sockets, passes requests to the edge, and shuts down gracefully.

pub(crate) mod connection;
mod connection_limiter;
pub(crate) mod deadlines;
mod outgoing;
mod protocol;
mod socket;

pub(crate) use connection::{Connection, HeldBack};
pub use deadlines::Patience;

use crate::http::fast_path::{self, Next, OpenStream};
use crate::http::respond::answer::EventStream;
use crate::http::respond::events::EventSource;
use crate::jobs::tasks::Tasks;
use crate::routes::{Edge, Room};
use anyhow::{Context, Result};
use axum::http::{Request, Response};
use bytes::BytesMut;
use connection::Sending;
use connection_limiter::{ConnectionLimiter, Entry, Limits};
use hyper::body::{Body, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::{GracefulConnection, GracefulShutdown, Watcher};
use outgoing::Outgoing;
use protocol::Protocol;
use socket::Socket;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket, TcpStream};

/// Pending connections: at an opening, thousands arrive at once.
const BACKLOG: u32 = 4_096;

/// Longest request line with its headers.
const HEAD_MAX: usize = 16 * 1024;
const HEADERS_MAX: usize = 100;

/// Most concurrent HTTP/2 requests on one connection.
const STREAMS_MAX: u32 = 64;

/// Most buffered bytes of one response to an HTTP/2 client that doesn't read it.
const SEND_BUFFER: usize = 64 * 1024;

/// Most buffered bytes of unread request bodies.
const RECEIVE_WINDOW: u32 = 256 * 1024;

/// Interval of HTTP/2 keep-alive pings.
const PING_EVERY: Duration = Duration::from_secs(20);

/// How long shutdown waits for running requests.
const DRAIN_WITHIN: Duration = Duration::from_secs(25);

/// How often connections are checked for timeouts.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Binds a listener with a backlog large enough for an opening.
pub fn bind(address: &str) -> Result<TcpListener> {
    let address: SocketAddr = address.parse().with_context(|| {
        format!("listen: `{address}` is not an address (such as 127.0.0.1:8080)")
    })?;
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_reuseaddr(true)?;
    socket.bind(address).with_context(|| format!("cannot listen on {address}"))?;
    Ok(socket.listen(BACKLOG)?)
}

/// Serves until `tasks` stops, then waits for running requests.
pub async fn serve(listener: TcpListener, edge: Edge, tasks: Tasks) {
    let edge = Arc::new(edge);
    let limits = Limits::new(edge.connections_per_ip(), edge.unsent_per_connection());
    let (limiter, patience) = (ConnectionLimiter::new(limits), edge.patience());
    let graceful = GracefulShutdown::new();
    let mut look = tokio::time::interval(LOOK_EVERY);
    loop {
        let accepted = tokio::select! {
            accepted = accept(&listener, &limiter) => accepted,
            _ = look.tick() => {
                limiter.end_overdue(&patience);
                continue;
            }
            () = tasks.stopped() => break,
        };
        let Some((stream, peer)) = accepted else { continue };
        let Some(entry) = limiter.enter(peer, edge.is_proxy(peer.ip())) else { continue };
        let watcher = graceful.watcher();
        let accepted =
            Accepted { stream, entry, watcher, edge: edge.clone(), tasks: tasks.clone() };
        accepted.spawn(BytesMut::new());
    }
    drop(listener);
    let drained = async {
        let mut shutdown = std::pin::pin!(graceful.shutdown());
        loop {
            tokio::select! {
                () = &mut shutdown => break,
                _ = look.tick() => limiter.end_overdue(&patience),
            }
        }
    };
    if tokio::time::timeout(DRAIN_WITHIN, drained).await.is_err() {
        tracing::warn!("Some connections did not drain in time");
    }
}

/// An accepted connection. It counts against the limits, and shutdown waits for it, until it is
/// dropped.
struct Accepted {
    stream: TcpStream,
    entry: Entry,
    watcher: Watcher,
    edge: Arc<Edge>,
    tasks: Tasks,
}

impl Accepted {
    /// Serves the connection in a task of its own. `read` has arrived already.
    fn spawn(self, read: BytesMut) {
        self.tasks.clone().spawn(self.serve(read));
    }

    /// The fast path serves the connection first; hyper takes over at the first other request.
    async fn serve(mut self, read: BytesMut) {
        let Accepted { stream, entry, edge, tasks, .. } = &mut self;
        let (connection, patience) = (entry.connection.clone(), edge.patience());
        let mut early =
            match fast_path::answer(stream, read, edge, &connection, tasks, &patience).await {
                Next::Other(read) => read,
                Next::Stream(opened) => return self.spawn_stream(opened),
                Next::Over => return,
            };
        let detected = protocol::detect(stream, &mut early, &connection, tasks).await;
        let Some(protocol) = detected else { return };
        let Accepted { stream, entry: _entry, watcher, edge, .. } = self;
        let socket = Socket { stream, early, connection: connection.clone() };
        tokio::select! {
            // Connection errors are the client's problem.
            _ = watcher.watch(hand_over(socket, protocol, edge)) => {}
            () = connection.let_go() => {}
        }
    }

    /// Sends a stream in a task of its own, because this one has room for all that hyper needs.
    fn spawn_stream(self, opened: OpenStream) {
        let OpenStream { events, room, early } = opened;
        let tasks = self.tasks.clone();
        match events {
            EventStream::Queue(events) => drop(tasks.spawn(self.stream(*events, room, early))),
            EventStream::Seats(events) => drop(tasks.spawn(self.stream(*events, room, early))),
        }
    }

    /// After the last event, the connection is free for the next request.
    #[expect(
        clippy::manual_async_fn,
        reason = "an async fn has room for each argument twice, in every stream"
    )]
    fn stream<S: EventSource>(
        self,
        mut source: S,
        room: Option<Room>,
        mut early: BytesMut,
    ) -> impl Future<Output = ()> + Send {
        async move {
            let (stream, connection) = (&self.stream, &self.entry.connection);
            let sent = fast_path::send_events(stream, &mut early, connection, &mut source).await;
            drop((source, room));
            if sent.is_ok() {
                self.spawn(early);
            }
        }
    }
}

fn hand_over(socket: Socket, protocol: Protocol, edge: Arc<Edge>) -> impl GracefulConnection {
    let patience = edge.patience();
    let connection = socket.connection.clone();
    let builder = Builder::new(TokioExecutor::new());
    let mut builder = match protocol {
        Protocol::Http1 => builder.http1_only(),
        Protocol::Http2 => {
            connection.is_http2();
            builder.http2_only()
        }
    };
    // Processes a request even if its sender has disconnected since: otherwise hyper may drop it
    // before its first poll.
    builder.http1().half_close(true);
    builder.http1().timer(TokioTimer::new()).header_read_timeout(patience.header);
    builder.http1().max_buf_size(HEAD_MAX).max_headers(HEADERS_MAX);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_header_list_size(HEAD_MAX as u32)
        .max_concurrent_streams(STREAMS_MAX)
        .max_send_buf_size(SEND_BUFFER)
        .initial_stream_window_size(RECEIVE_WINDOW)
        .initial_connection_window_size(RECEIVE_WINDOW)
        .keep_alive_interval(PING_EVERY)
        .keep_alive_timeout(patience.send_stall);
    let service = service_fn(move |request| {
        let (edge, connection) = (edge.clone(), connection.clone());
        async move { Ok::<_, Infallible>(answer(request, &edge, &connection).await) }
    });
    builder.serve_connection(TokioIo::new(socket), service).into_owned()
}

async fn answer(
    request: Request<Incoming>,
    edge: &Edge,
    connection: &Arc<Connection>,
) -> Response<Outgoing> {
    let patience = edge.patience();
    let (open, deadline) = connection.open_request(&patience);
    let (response, room) = edge.answer(request, connection, deadline).await;
    let is_stream = response.body().size_hint().exact().is_none();
    let sending = Sending::begin(open, is_stream, patience);
    response.map(|body| Outgoing::new(body, sending, room))
}

async fn accept(
    listener: &TcpListener,
    limiter: &ConnectionLimiter,
) -> Option<(TcpStream, SocketAddr)> {
    limiter.room().await;
    match listener.accept().await {
        Ok((stream, peer)) => {
            let _ = stream.set_nodelay(true);
            Some((stream, peer))
        }
        Err(error) => {
            // Probably out of file descriptors: wait until other connections close.
            tracing::warn!(%error, "Could not accept a connection");
            tokio::time::sleep(Duration::from_millis(50)).await;
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routes::catalog::seat_stream::SeatEvents;
    use crate::routes::waiting_room::stream::QueueEvents;

    /// The task of a stream, besides the socket and the entry in the limiter.
    const STREAM_BYTES_MAX: usize = 2_048;

    fn size_of_future<A, B, C, D, F>(_call: impl Fn(A, B, C, D) -> F) -> usize {
        size_of::<F>()
    }

    #[test]
    fn a_stream_is_a_small_task() {
        let queue = size_of_future(Accepted::stream::<QueueEvents>);
        let seats = size_of_future(Accepted::stream::<SeatEvents>);
        assert!(queue.max(seats) <= STREAM_BYTES_MAX, "{queue} and {seats} bytes");
    }
}
