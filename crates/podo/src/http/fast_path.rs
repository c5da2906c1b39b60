//! Well-formed requests of the hot routes bypass hyper.
//!
//! They are nearly all requests of an opening, so this module parses and answers them with very
//! little overhead. At the first request of any other shape, hyper takes over the connection with
//! all bytes read so far: unusual requests are handled in one place.

mod request;
mod response;
mod streams;

pub(crate) use streams::send_events;

use crate::http::edge::Room;
use crate::http::listener::Connection;
use crate::http::listener::deadlines::Patience;
use crate::http::respond::answer::EventStream;
use crate::jobs::tasks::Tasks;
use crate::routes::Edge;
use bytes::{Buf, BytesMut};
use request::{Head, read_request};
use response::write_response;
use std::io::{ErrorKind, Result};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::Instant;

/// What happens to the connection next.
pub(crate) enum Next {
    /// Another request arrived: these bytes, and what follows them.
    Other(BytesMut),
    /// The head of a stream is sent.
    Stream(OpenStream),
    /// The client disconnected or timed out, or the process is stopping.
    Over,
}

/// A stream whose events are still to be sent.
pub(crate) struct OpenStream {
    pub(crate) events: EventStream,
    pub(crate) room: Option<Room>,
    /// What the client has sent after its request.
    pub(crate) early: BytesMut,
}

/// Serves requests until another kind arrives. The client has a deadline to start a request, the
/// same one from its first byte to its last, and another one to read the response.
pub(crate) async fn answer(
    stream: &mut TcpStream,
    mut buffer: BytesMut,
    edge: &Edge,
    connection: &Arc<Connection>,
    tasks: &Tasks,
    patience: &Patience,
) -> Next {
    let mut answer = Vec::new();
    let mut stopped = pin!(tasks.stopped());
    let mut let_go = pin!(connection.let_go());
    let mut deadline = Instant::now() + patience.header;
    let mut alarm = pin!(tokio::time::sleep_until(deadline));
    loop {
        let (length, response) = match read_request(&buffer) {
            Head::FastRequest { request, length } => {
                let Some(response) = edge.answer_fast(&request, connection).await else {
                    return hand_over(buffer, connection, deadline - patience.header);
                };
                (length, response)
            }
            Head::Other => return hand_over(buffer, connection, deadline - patience.header),
            Head::Part => {
                buffer.reserve(1_024);
                let is_first = buffer.is_empty();
                if is_first {
                    deadline = Instant::now() + patience.header;
                }
                let read = tokio::select! {
                    biased;
                    read = stream.read_buf(&mut buffer) => read.unwrap_or(0),
                    () = &mut stopped => return Next::Over,
                    () = &mut let_go => return Next::Over,
                    () = passed(alarm.as_mut(), deadline) => 0,
                };
                if read == 0 && is_first {
                    return Next::Over;
                }
                // An incomplete request goes to hyper.
                if read == 0 {
                    return hand_over(buffer, connection, deadline - patience.header);
                }
                if is_first {
                    deadline = Instant::now() + patience.header;
                }
                continue;
            }
        };
        write_response(&mut answer, edge, &response);
        let opened = response.into_stream();
        buffer.advance(length);
        if !buffer.is_empty() {
            deadline = Instant::now() + patience.header;
        }
        if send(stream, &answer, patience.send_stall).await.is_err() {
            return Next::Over;
        }
        answer.clear();
        if let Some((events, room)) = opened {
            // A copy, because the buffer would keep its memory.
            let early = BytesMut::from(&buffer[..]);
            return Next::Stream(OpenStream { events, room, early });
        }
    }
}

/// Leaves the connection to hyper. The first byte of its request came at this moment.
fn hand_over(read: BytesMut, connection: &Connection, since: Instant) -> Next {
    connection.begin_reading_at(since);
    Next::Other(read)
}

/// Sends a response, which nearly always fits into the socket buffer.
async fn send(stream: &mut TcpStream, answer: &[u8], patience: Duration) -> Result<()> {
    let n_sent = match stream.try_write(answer) {
        Ok(n_sent) => n_sent,
        Err(error) if error.kind() == ErrorKind::WouldBlock => 0,
        Err(error) => return Err(error),
    };
    if n_sent == answer.len() {
        return Ok(());
    }
    tokio::time::timeout(patience, stream.write_all(&answer[n_sent..])).await?
}

/// Waits for the deadline. Resets the timer only if it fires too early, because most requests
/// arrive long before, and a reset for each of them would cost more than parsing it.
async fn passed(mut alarm: std::pin::Pin<&mut tokio::time::Sleep>, deadline: Instant) {
    loop {
        alarm.as_mut().await;
        if deadline <= alarm.deadline() {
            return;
        }
        alarm.as_mut().reset(deadline);
    }
}
