//! The baseline: plain hyper, which answers every request with a fixed body.

use bytes::Bytes;
use http_body_util::Full;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::io::Result;
use std::net::{Ipv4Addr, SocketAddr};
use std::thread;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

/// A server with its own runtime; dropping it stops it.
pub struct Hello {
    address: SocketAddr,
    _alive: oneshot::Sender<()>,
}

impl Hello {
    /// Every answer has a body of this many bytes.
    pub fn start(body_length: usize) -> Result<Hello> {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let (alive, ended) = oneshot::channel();
        let body = Bytes::from(vec![b'.'; body_length]);
        thread::Builder::new().name("hello".into()).spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    () = accept(listener, body) => {}
                    _ = ended => {}
                }
            });
        })?;
        Ok(Hello { address, _alive: alive })
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

async fn accept(listener: std::net::TcpListener, body: Bytes) {
    let Ok(listener) = TcpListener::from_std(listener) else { return };
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let _ = stream.set_nodelay(true);
        let body = body.clone();
        connections.spawn(async move {
            let answer = service_fn(|_: Request<hyper::body::Incoming>| {
                let body = body.clone();
                async { Ok::<_, Infallible>(Response::new(Full::new(body))) }
            });
            // Clients may disconnect.
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), answer).await;
        });
    }
}
