//! Connections that stay open: every fan keeps one and listens, or polls at intervals.

use crate::crowd::{Crowd, Fan};
use crate::fan::source_address;
use crate::http::client::{Call, Credentials};
use crate::http::connection::request;
use bytes::Bytes;
use std::io::{Error, ErrorKind, Result};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

/// How each event of the waiting room's stream starts.
const EVENT: &[u8] = b"event: message";

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

    /// Reads all connections for some time. Returns the number of events that arrived.
    pub async fn count_events(&mut self, length: Duration) -> u64 {
        let end = Instant::now() + length;
        let mut reading: JoinSet<(TcpStream, u64)> =
            self.0.drain(..).map(|stream| count_until(stream, end)).collect();
        let mut n_events = 0;
        while let Some(read) = reading.join_next().await {
            if let Ok((stream, n_more)) = read {
                self.0.push(stream);
                n_events += n_more;
            }
        }
        n_events
    }
}

async fn count_until(mut stream: TcpStream, end: Instant) -> (TcpStream, u64) {
    let (mut heard, mut n_events) = ([0; 2_048], 0);
    while let Ok(Ok(n_bytes @ 1..)) = timeout_at(end, stream.read(&mut heard)).await {
        let events = heard[..n_bytes].windows(EVENT.len()).filter(|part| *part == EVENT);
        n_events += events.count() as u64;
    }
    (stream, n_events)
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

    /// The first waiting fans leave the queue one by one, at this interval. Each time all others
    /// move up.
    pub async fn leave_one_by_one(&self, n_fans: usize, every: Duration) -> Result<()> {
        let call = Call::delete(format!("/api/queue/leave?scheduleId={}", self.schedule));
        let waiting = (0..self.fans.len()).filter(|number| self.fans[*number].entry.is_none());
        for number in waiting.take(n_fans) {
            let leave: Arc<[Bytes]> = Arc::new([self.ask(number, "leave", &call)]);
            self.fire(leave).await?;
            tokio::time::sleep(every).await;
        }
        Ok(())
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
