//! A small HTTP/1.1 client: shared keep-alive connections, each driven by the task that uses it.

use crate::Target;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{Connection, SendRequest};
use hyper::{Method, Request, header};
use hyper_util::rt::TokioIo;
use serde::de::DeserializeOwned;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
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
    pub(crate) body: Bytes,
}

impl Call {
    pub(crate) fn get(path: impl Into<String>) -> Call {
        Call { method: Method::GET, path: path.into(), body: Bytes::new() }
    }

    pub(crate) fn delete(path: impl Into<String>) -> Call {
        Call { method: Method::DELETE, path: path.into(), body: Bytes::new() }
    }

    pub(crate) fn post(path: impl Into<String>, body: &serde_json::Value) -> Call {
        Call { method: Method::POST, path: path.into(), body: body.to_string().into() }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Bytes,
}

impl Answer {
    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    pub(crate) fn json<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_slice(&self.body)
    }
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoAnswer {
    #[error("cannot connect: {0}")]
    Connect(#[from] std::io::Error),
    #[error("connection broke: {0}")]
    Http(#[from] hyper::Error),
    #[error("no answer in time")]
    TimedOut,
    #[error("not a request: {0}")]
    Request(#[from] hyper::http::Error),
}

/// The connection and its driver. The sender's task polls the driver: a separate driver task would
/// cost a wake-up across tasks for every request and answer.
struct Line {
    sender: SendRequest<Full<Bytes>>,
    /// None once the connection is closed.
    driver: Option<Connection<TokioIo<TcpStream>, Full<Bytes>>>,
    is_fresh: bool,
}

/// All fans' connections, used last in, first out, so that few stay warm.
pub(crate) struct Client {
    target: Target,
    idle: Mutex<Vec<Line>>,
    places: Semaphore,
    n_reconnects: AtomicU64,
}

impl Client {
    pub(crate) fn new(target: Target) -> Client {
        let places = Semaphore::new(target.connections_max.max(1));
        Client { target, idle: Mutex::new(Vec::new()), places, n_reconnects: AtomicU64::new(0) }
    }

    /// How often an idle connection turned out to be closed at its next use.
    pub(crate) fn n_reconnects(&self) -> u64 {
        self.n_reconnects.load(Ordering::Relaxed)
    }

    pub(crate) async fn send(
        &self,
        call: &Call,
        credentials: Credentials<'_>,
    ) -> Result<Answer, NoAnswer> {
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
    ) -> Result<Answer, NoAnswer> {
        let _place = self.places.acquire().await.expect("the semaphore is never closed");
        let mut line = self.take_line().await?;
        match line.exchange(self.request(call, credentials)?).await {
            // The server may close an idle connection at the very moment we use it again. Every
            // call can be repeated: it reads, is idempotent by design, or carries a key.
            Err(error) if !line.is_fresh && !error.is_parse() => {
                self.n_reconnects.fetch_add(1, Ordering::Relaxed);
                line = self.connect().await?;
                let answer = line.exchange(self.request(call, credentials)?).await?;
                Ok(self.keep(line, answer))
            }
            answer => Ok(self.keep(line, answer?)),
        }
    }

    fn request(
        &self,
        call: &Call,
        credentials: Credentials<'_>,
    ) -> Result<Request<Full<Bytes>>, NoAnswer> {
        let mut request = Request::builder()
            .method(call.method.clone())
            .uri(format!("{}{}", self.target.prefix, call.path))
            .header(header::HOST, &self.target.authority);
        if !call.body.is_empty() {
            request = request.header(header::CONTENT_TYPE, "application/json");
        }
        for (name, value) in credentials.headers() {
            request = request.header(name, value);
        }
        Ok(request.body(Full::new(call.body.clone()))?)
    }

    async fn take_line(&self) -> Result<Line, NoAnswer> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        match idle {
            Some(line) => Ok(line),
            None => self.connect().await,
        }
    }

    async fn connect(&self) -> Result<Line, NoAnswer> {
        let stream = TcpStream::connect(&self.target.authority).await?;
        stream.set_nodelay(true)?;
        let (sender, driver) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
        Ok(Line { sender, driver: Some(driver), is_fresh: true })
    }

    fn keep(&self, mut line: Line, answer: Answer) -> Answer {
        if line.driver.is_some() && !line.sender.is_closed() {
            line.is_fresh = false;
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(line);
        }
        answer
    }
}

impl Line {
    async fn exchange(&mut self, request: Request<Full<Bytes>>) -> Result<Answer, hyper::Error> {
        let sender = &mut self.sender;
        let mut talk = pin!(async move {
            sender.ready().await?;
            let response = sender.send_request(request).await?;
            let status = response.status().as_u16();
            let body = response.into_body().collect().await?.to_bytes();
            Ok(Answer { status, body })
        });
        if let Some(driver) = &mut self.driver {
            tokio::select! {
                biased;
                answer = &mut talk => return answer,
                _ended = driver => {}
            }
        }
        // The connection is closed. Dropping its driver fails a request that still waits in it,
        // which would otherwise wait for ever; a delivered answer can still be read.
        self.driver = None;
        talk.await
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
    async fn a_silent_server_is_given_up_in_time() {
        let (client, mut server) = client_of(usize::MAX).await;
        // The server serves one connection at a time, so the second one waits for ever.
        let line = client.connect().await.unwrap();
        client.send(&Call::get("/"), Credentials::default()).await.unwrap_err();
        drop(line);
        server.abort_all();
    }
}
