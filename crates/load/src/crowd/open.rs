//! Connections that stay open: every fan keeps one and is told, or asks now and then.

use super::{Crowd, Fan};
use crate::client::{Call, Credentials};
use crate::volley::request;
use bytes::Bytes;
use std::io::{Error, ErrorKind, Result};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream, lookup_host};

/// Connections from one address: it has some 28,000 ports to give.
const PER_ADDRESS: usize = 20_000;

/// How a fan stays connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stay {
    /// On the stream of the waiting room.
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
    /// Everybody who waits opens a connection and hears something on it.
    pub async fn stay(&self, how: Stay) -> Result<OpenConnections> {
        let path = match how {
            Stay::Listening => "stream",
            Stay::Polling => "status",
        };
        let call = Call::get(format!("/api/queue/{path}?scheduleId={}", self.schedule));
        let server = lookup_host(&self.target.authority).await?.next();
        let server = server.ok_or_else(|| Error::other("the server has no address"))?;
        let waiting = self.fans.iter().filter(|fan| fan.entry.is_none());
        let mut open = Vec::new();
        for (number, fan) in waiting.enumerate() {
            open.push(connect(server, number, self.hello(fan, &call)).await?);
        }
        Ok(OpenConnections(open))
    }

    fn hello(&self, fan: &Fan, call: &Call) -> Bytes {
        let credentials = Credentials { place: fan.place.as_deref(), ..Credentials::default() };
        request(&self.target, call, credentials)
    }
}

/// A loopback server is called from as many loopback addresses as are needed.
async fn connect(server: SocketAddr, number: usize, hello: Bytes) -> Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    if server.ip().is_loopback() {
        let last = u8::try_from(2 + number / PER_ADDRESS).map_err(Error::other)?;
        socket.bind((IpAddr::V4(Ipv4Addr::new(127, 0, 0, last)), 0).into())?;
    }
    let mut stream = socket.connect(server).await?;
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
