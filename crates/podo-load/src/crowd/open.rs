//! Connections that stay open: every fan keeps one and listens, or polls at intervals.

use crate::crowd::{Crowd, Fan};
use crate::fan::source_address;
use crate::http::client::{Call, Credentials};
use crate::load_run::request;
use bytes::Bytes;
use std::io::{Error, ErrorKind, Result};
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// How a fan stays connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stay {
    /// On the waiting room's event stream.
    Listening,
    /// On a connection that has polled once and will again.
    Polling,
}

/// Connections that are closed when this is dropped.
pub struct OpenConnections(Vec<TcpStream>);

impl OpenConnections {
    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Crowd {
    /// Every waiting fan opens a connection and receives a first answer on it.
    pub async fn stay(&self, how: Stay) -> Result<OpenConnections> {
        let path = match how {
            Stay::Listening => "stream",
            Stay::Polling => "status",
        };
        let call = Call::get(format!("/api/queue/{path}?scheduleId={}", self.schedule));
        let server = source_address::find(&self.target).await?;
        let waiting = self.fans.iter().filter(|fan| fan.entry.is_none());
        let mut open = Vec::new();
        for (number, fan) in waiting.enumerate() {
            open.push(stay_connected(server, number, self.hello(fan, &call)).await?);
        }
        Ok(OpenConnections(open))
    }

    fn hello(&self, fan: &Fan, call: &Call) -> Bytes {
        let credentials = Credentials { place: fan.place.as_deref(), ..Credentials::default() };
        request(&self.target, call, credentials)
    }
}

async fn stay_connected(server: SocketAddr, number: usize, hello: Bytes) -> Result<TcpStream> {
    let mut stream = source_address::connect(server, number).await?;
    stream.write_all(&hello).await?;
    let mut heard = vec![0; 4_096];
    match stream.read(&mut heard).await? {
        n_bytes if heard[..n_bytes].starts_with(b"HTTP/1.1 200 ") => Ok(stream),
        n_bytes => {
            let said = String::from_utf8_lossy(&heard[..n_bytes]).into_owned();
            Err(Error::new(ErrorKind::InvalidData, said))
        }
    }
}
