//! A small HTTP/1.1 client: all fans share some keep-alive connections.

use crate::Target;
use crate::fan::source_address;
use crate::http::connection::{Connection, HttpResponse, request};
use bytes::Bytes;
use hyper::Method;
use std::collections::VecDeque;
use std::io::Result;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;

/// Tokens and keys of one call, in the headers of the API.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Credentials<'a> {
    pub(crate) access: Option<&'a str>,
    pub(crate) place: Option<&'a str>,
    pub(crate) entry: Option<&'a str>,
    pub(crate) idempotency_key: Option<&'a str>,
}

impl Credentials<'_> {
    pub(crate) fn headers(&self) -> impl Iterator<Item = (&'static str, String)> {
        let access = self.access.map(|token| format!("Bearer {token}"));
        let named = [
            ("authorization", access),
            ("queue-token", self.place.map(str::to_owned)),
            ("entry-token", self.entry.map(str::to_owned)),
            ("idempotency-key", self.idempotency_key.map(str::to_owned)),
        ];
        named.into_iter().filter_map(|(name, value)| Some((name, value?)))
    }
}

/// One call, without its credentials.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) accept: Option<&'static str>,
    pub(crate) body: Bytes,
}

impl Call {
    pub(crate) fn get(path: impl Into<String>) -> Call {
        Call { method: Method::GET, path: path.into(), accept: None, body: Bytes::new() }
    }

    /// Asks for the compact form of an answer.
    pub(crate) fn get_bytes(path: impl Into<String>) -> Call {
        Call { accept: Some("application/octet-stream"), ..Call::get(path) }
    }

    pub(crate) fn delete(path: impl Into<String>) -> Call {
        Call { method: Method::DELETE, ..Call::get(path) }
    }

    pub(crate) fn post(path: impl Into<String>, body: &serde_json::Value) -> Call {
        Call { method: Method::POST, body: body.to_string().into(), ..Call::get(path) }
    }

    pub(crate) fn put(path: impl Into<String>, body: &serde_json::Value) -> Call {
        Call { method: Method::PUT, ..Call::post(path, body) }
    }
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoAnswer {
    #[error("cannot connect: {0}")]
    Connect(std::io::Error),
    #[error("connection broke: {0}")]
    Broken(std::io::Error),
    #[error("no answer in time")]
    TimedOut,
}

/// All fans' connections, used last in, first out, so that few stay warm. Connections with an
/// address of their own are used in turn, so that none exceeds what an address may ask.
pub(crate) struct Client {
    target: Target,
    idle: Mutex<VecDeque<Connection>>,
    places: Semaphore,
    n_connected: AtomicUsize,
    n_reconnects: AtomicU64,
}

impl Client {
    pub(crate) fn new(target: Target) -> Client {
        let places = Semaphore::new(target.connections_max.max(1));
        Client {
            target,
            idle: Mutex::default(),
            places,
            n_connected: AtomicUsize::new(0),
            n_reconnects: AtomicU64::new(0),
        }
    }

    /// How often an idle connection turned out to be closed at its next use.
    pub(crate) fn n_reconnects(&self) -> u64 {
        self.n_reconnects.load(Ordering::Relaxed)
    }

    pub(crate) async fn send(
        &self,
        call: &Call,
        credentials: Credentials<'_>,
    ) -> std::result::Result<HttpResponse, NoAnswer> {
        let work = self.send_with_patience(call, credentials);
        match tokio::time::timeout(self.target.request_timeout, work).await {
            Ok(answer) => answer,
            Err(_elapsed) => Err(NoAnswer::TimedOut),
        }
    }

    async fn send_with_patience(
        &self,
        call: &Call,
        credentials: Credentials<'_>,
    ) -> std::result::Result<HttpResponse, NoAnswer> {
        let _place = self.places.acquire().await.expect("the semaphore is never closed");
        let request = request(&self.target, call, credentials);
        if let Some(idle) = self.take_idle() {
            // The server may have closed an idle connection. Every call can be repeated: it reads,
            // is idempotent by design, or carries a key.
            if let Ok(answer) = self.exchange(idle, &request).await {
                return Ok(answer);
            }
            self.n_reconnects.fetch_add(1, Ordering::Relaxed);
        }
        let fresh = self.connect().await.map_err(NoAnswer::Connect)?;
        self.exchange(fresh, &request).await.map_err(NoAnswer::Broken)
    }

    /// Keeps the connection for the next call, unless it broke.
    async fn exchange(&self, mut connection: Connection, request: &[u8]) -> Result<HttpResponse> {
        let answer = connection.exchange(request).await?;
        self.idle().push_back(connection);
        Ok(answer)
    }

    fn take_idle(&self) -> Option<Connection> {
        if !self.target.spreads_addresses {
            return self.idle().pop_back();
        }
        let are_all_open = self.target.connections_max <= self.n_connected.load(Ordering::Relaxed);
        if are_all_open { self.idle().pop_front() } else { None }
    }

    fn idle(&self) -> MutexGuard<'_, VecDeque<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn connect(&self) -> Result<Connection> {
        let number = self.n_connected.fetch_add(1, Ordering::Relaxed);
        if self.target.spreads_addresses {
            let server = source_address::find(&self.target).await?;
            let number = number % self.target.connections_max.max(1);
            return Ok(Connection::over(source_address::connect(server, number).await?));
        }
        let stream = TcpStream::connect(&self.target.authority).await?;
        stream.set_nodelay(true)?;
        Ok(Connection::over(stream))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;
    use tokio::task::JoinSet;

    /// Announces keep-alive, then closes the connection after `answers_per_connection`.
    async fn serve(listener: TcpListener, answers_per_connection: usize) {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            for _ in 0..answers_per_connection {
                let mut request = [0; 4096];
                if stream.read(&mut request).await.unwrap_or(0) == 0 {
                    break;
                }
                stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}").await.unwrap();
            }
        }
    }

    async fn client_of(answers_per_connection: usize) -> (Client, JoinSet<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut target = Target::at(&format!("http://{}", listener.local_addr().unwrap())).unwrap();
        target.request_timeout = std::time::Duration::from_millis(200);
        let mut server = JoinSet::new();
        server.spawn(serve(listener, answers_per_connection));
        (Client::new(target), server)
    }

    #[tokio::test]
    async fn a_connection_that_the_server_closed_while_idle_costs_no_answer() {
        let (client, _server) = client_of(1).await;
        for _ in 0..50 {
            let answer = client.send(&Call::get("/"), Credentials::default()).await.unwrap();
            assert_eq!((answer.status, &answer.body[..]), (200, &b"{}"[..]));
        }
    }

    #[tokio::test]
    async fn a_connection_is_used_again() {
        let (client, _server) = client_of(usize::MAX).await;
        for _ in 0..50 {
            client.send(&Call::get("/"), Credentials::default()).await.unwrap();
        }
        assert_eq!((client.n_reconnects(), client.idle.lock().unwrap().len()), (0, 1));
    }

    #[tokio::test]
    async fn connections_with_an_address_of_their_own_are_used_in_turn() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let target = Target::at(&format!("http://{}", listener.local_addr().unwrap())).unwrap();
        let client = Client::new(target.from_addresses(3));
        let calls = async {
            for _ in 0..12 {
                client.send(&Call::get("/"), Credentials::default()).await.unwrap();
            }
        };
        let (homes, ()) = tokio::join!(count_calls(listener, 12), calls);
        assert_eq!(homes.values().copied().collect::<Vec<_>>(), [4, 4, 4], "{homes:?}");
        assert!(homes.keys().all(|home| *home != std::net::Ipv4Addr::LOCALHOST), "{homes:?}");
    }

    /// Answers `n_calls` and counts them by the caller's address.
    async fn count_calls(
        listener: TcpListener,
        n_calls: usize,
    ) -> std::collections::BTreeMap<std::net::IpAddr, usize> {
        let counts = std::sync::Arc::new(Mutex::new(std::collections::BTreeMap::new()));
        let mut lines = JoinSet::new();
        while counts.lock().unwrap().values().sum::<usize>() < n_calls {
            let accepted =
                tokio::time::timeout(std::time::Duration::from_millis(20), listener.accept());
            let Ok(accepted) = accepted.await else { continue };
            let ((mut stream, peer), counts) = (accepted.unwrap(), counts.clone());
            lines.spawn(async move {
                let mut request = [0; 4096];
                while stream.read(&mut request).await.unwrap_or(0) > 0 {
                    *counts.lock().unwrap().entry(peer.ip()).or_default() += 1;
                    let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
                    stream.write_all(answer).await.unwrap();
                }
            });
        }
        let counted = counts.lock().unwrap();
        counted.clone()
    }

    #[tokio::test]
    async fn a_silent_server_is_given_up_in_time() {
        let (client, mut server) = client_of(usize::MAX).await;
        // The server serves one connection at a time, so the second one waits for ever.
        let line = client.connect().await.unwrap();
        client.send(&Call::get("/"), Credentials::default()).await.unwrap_err();
        drop(line);
        server.abort_all();
    }
}
