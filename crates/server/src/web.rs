//! The accept loop: sockets in, requests to the edge, an orderly end.

mod asks;
mod guests;

use crate::api::Edge;
use crate::tasks::Tasks;
use anyhow::{Context, Result};
use guests::Guests;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::{GracefulConnection, GracefulShutdown};
use std::convert::Infallible;
use std::io::Cursor;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::Semaphore;

/// Connections that may wait to be accepted: at an opening thousands come in one breath.
const BACKLOG: u32 = 4_096;

/// Open connections in all; the next ones wait in the backlog.
const CONNECTIONS_MAX: usize = 100_000;

/// A client that does not finish its request line and headers in this time is let go.
const HEADERS_WITHIN: Duration = Duration::from_secs(10);

/// A request line with its headers is no longer than this.
const HEAD_MAX: usize = 16 * 1024;
const HEADERS_MAX: usize = 100;

/// How long running requests may take when the process ends.
const DRAIN_WITHIN: Duration = Duration::from_secs(25);

/// Listens with a backlog made for openings.
pub fn bind(address: &str) -> Result<TcpListener> {
    let address: SocketAddr = address
        .parse()
        .with_context(|| format!("listen: `{address}` is no address (such as 127.0.0.1:8080)"))?;
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_reuseaddr(true)?;
    socket.bind(address).with_context(|| format!("cannot listen on {address}"))?;
    Ok(socket.listen(BACKLOG)?)
}

/// Serves until `tasks` is told to stop, then lets running requests finish.
pub async fn serve(listener: TcpListener, edge: Edge, tasks: Tasks) {
    let edge = Arc::new(edge);
    let guests = Guests::new(edge.connections_per_ip());
    let graceful = GracefulShutdown::new();
    let seats = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let accepted = tokio::select! {
            accepted = accept(&listener, &seats) => accepted,
            () = tasks.stopped() => break,
        };
        let Some((stream, peer, seat)) = accepted else { continue };
        // Our own proxies bring many clients.
        let guest = guests.enter(peer.ip());
        if guest.is_none() && !edge.is_proxy(peer.ip()) {
            continue;
        }
        let connection = serve_connection(stream, peer, edge.clone(), tasks.clone());
        let watcher = graceful.watcher();
        tasks.spawn(async move {
            if let Some(connection) = connection.await {
                // A connection that breaks is the client's affair.
                let _ = watcher.watch(connection).await;
            }
            drop((seat, guest));
        });
    }
    drop(listener);
    if tokio::time::timeout(DRAIN_WITHIN, graceful.shutdown()).await.is_err() {
        tracing::warn!("Some connections did not finish in time");
    }
}

/// What is asked of the waiting room at the beginning of a connection is answered at once; from the
/// first other request on it is hyper's.
async fn serve_connection(
    mut stream: TcpStream,
    peer: SocketAddr,
    edge: Arc<Edge>,
    tasks: Tasks,
) -> Option<impl GracefulConnection> {
    let read = match asks::answer(&mut stream, &edge, peer, &tasks, HEADERS_WITHIN).await {
        asks::Next::Other(read) => Cursor::new(read),
        asks::Next::Over => return None,
    };
    let service = service_fn(move |request| {
        let edge = edge.clone();
        async move { Ok::<_, Infallible>(edge.answer(request, peer).await) }
    });
    let mut builder = Builder::new(TokioExecutor::new());
    // A request that has arrived is worked on, also when its sender has hung up since: without
    // this hyper may drop it before its first step.
    builder.http1().half_close(true);
    builder.http1().timer(TokioTimer::new()).header_read_timeout(HEADERS_WITHIN);
    builder.http1().max_buf_size(HEAD_MAX).max_headers(HEADERS_MAX);
    builder.http2().timer(TokioTimer::new()).max_header_list_size(HEAD_MAX as u32);
    let (reader, writer) = stream.into_split();
    let stream = tokio::io::join(read.chain(reader), writer);
    Some(builder.serve_connection(TokioIo::new(stream), service).into_owned())
}

async fn accept(
    listener: &TcpListener,
    seats: &Arc<Semaphore>,
) -> Option<(TcpStream, SocketAddr, tokio::sync::OwnedSemaphorePermit)> {
    let seat = seats.clone().acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, peer)) => {
            let _ = stream.set_nodelay(true);
            Some((stream, peer, seat))
        }
        Err(error) => {
            // Out of file handles, most likely: give the others a moment to close theirs.
            tracing::warn!(%error, "Cannot accept a connection");
            tokio::time::sleep(Duration::from_millis(50)).await;
            None
        }
    }
}
