//! Event streams without hyper. A stream is a task that owns its socket, and nothing else than the
//! state of its events: no buffers for reading or writing. Each event is written to the socket as
//! one chunk; the next one is created when the socket has taken all of it.

use crate::http::listener::Connection;
use crate::http::respond::events::EventSource;
use bytes::{Bytes, BytesMut};
use std::io::{Error, ErrorKind, IoSlice, Result};
use std::pin::pin;
use tokio::net::TcpStream;

/// The chunk that ends a stream.
const LAST_CHUNK: &[u8] = b"0\r\n\r\n";

/// Most bytes that a client may send while it listens, such as its next request. The socket keeps
/// what follows.
const EARLY_MAX: usize = 1_024;

/// Sends events until the stream ends. An error means that the connection is over: the client left
/// or is too slow. `early` receives what the client sends meanwhile.
pub(crate) async fn send_events(
    stream: &TcpStream,
    early: &mut BytesMut,
    connection: &Connection,
    source: &mut impl EventSource,
) -> Result<()> {
    let mut over = pin!(over(stream, early, connection));
    loop {
        let piece = tokio::select! {
            piece = source.next_piece() => piece,
            () = &mut over => return Err(ErrorKind::ConnectionAborted.into()),
        };
        let (length, piece) = match piece {
            Some(piece) => (format!("{:x}\r\n", piece.len()), piece),
            None => (String::new(), Bytes::from_static(LAST_CHUNK)),
        };
        let is_last = length.is_empty();
        let end: &[u8] = if is_last { b"" } else { b"\r\n" };
        tokio::select! {
            sent = send(stream, connection, [length.as_bytes(), &piece, end]) => sent?,
            () = &mut over => return Err(ErrorKind::ConnectionAborted.into()),
        }
        if is_last {
            return Ok(());
        }
    }
}

/// Resolves when the client has left, or when the connection must close.
async fn over(stream: &TcpStream, early: &mut BytesMut, connection: &Connection) {
    tokio::select! {
        () = left(stream, early) => {}
        () = connection.let_go() => {}
    }
}

/// Reads until the client closes its side.
async fn left(stream: &TcpStream, early: &mut BytesMut) {
    while early.len() < EARLY_MAX {
        let mut bytes = [0; 64];
        let read = match stream.readable().await {
            Ok(()) => stream.try_read(&mut bytes),
            Err(error) => Err(error),
        };
        match read {
            Ok(n_bytes @ 1..) => early.extend_from_slice(&bytes[..n_bytes]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Ok(0) | Err(_) => return,
        }
    }
    // From here on, only a failed write shows that the client has left.
    std::future::pending::<()>().await;
}

/// Writes all parts. The connection counts as blocked while the socket takes nothing.
async fn send(stream: &TcpStream, connection: &Connection, parts: [&[u8]; 3]) -> Result<()> {
    let mut slices = parts.map(IoSlice::new);
    let mut rest = &mut slices[..];
    IoSlice::advance_slices(&mut rest, 0);
    while !rest.is_empty() {
        match stream.try_write_vectored(rest) {
            Ok(0) => return Err(Error::from(ErrorKind::WriteZero)),
            Ok(n_bytes) => {
                connection.unblock();
                IoSlice::advance_slices(&mut rest, n_bytes);
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                connection.block();
                stream.writable().await?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::listener::Patience;
    use std::time::{Duration, Instant};
    use tokio::io::AsyncReadExt;
    use tokio::net::TcpSocket;
    use tokio::sync::watch;

    const STALL: Duration = Duration::from_secs(20);
    const PATIENCE: Patience =
        Patience { header: STALL, request: STALL, idle: STALL, send_stall: STALL };

    /// Sends the newest number, in events that are larger than the buffers of both sockets.
    struct Newest(watch::Receiver<u64>);

    impl EventSource for Newest {
        async fn next_event(&mut self) -> Option<Bytes> {
            self.0.changed().await.ok()?;
            let number = *self.0.borrow_and_update();
            Some(format!("<{number}>{}", ".".repeat(1 << 18)).into())
        }
    }

    /// The server's end and the client's.
    async fn connected() -> (TcpStream, TcpStream, Connection) {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_send_buffer_size(4_096).unwrap();
        socket.bind(([127, 0, 0, 1], 0).into()).unwrap();
        let listener = socket.listen(1).unwrap();
        let client = TcpSocket::new_v4().unwrap();
        client.set_recv_buffer_size(4_096).unwrap();
        let client = client.connect(listener.local_addr().unwrap()).await.unwrap();
        let (server, peer) = listener.accept().await.unwrap();
        (server, client, Connection::new(peer, 1))
    }

    /// Waits until the socket takes nothing more.
    async fn blocked(connection: &Connection) {
        while !connection.is_overdue(Instant::now() + 2 * STALL, &PATIENCE) {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn a_slow_reader_gets_the_newest_event_instead_of_a_backlog() {
        let (server, mut client, connection) = connected().await;
        let (tell, newest) = watch::channel(0);
        let (mut early, mut source) = (BytesMut::new(), Newest(newest));
        tell.send_replace(1);
        let read = async {
            blocked(&connection).await;
            for number in 2..=100 {
                tell.send_replace(number);
                tokio::task::yield_now().await;
            }
            drop(tell);
            let mut got = Vec::new();
            while !got.ends_with(LAST_CHUNK) {
                assert_ne!(client.read_buf(&mut got).await.unwrap(), 0);
            }
            String::from_utf8(got).unwrap()
        };
        let send = send_events(&server, &mut early, &connection, &mut source);
        let (sent, got) = tokio::join!(send, read);
        sent.unwrap();
        let numbers = got.split('<').skip(1).map(|event| event.split_once('>').unwrap().0);
        assert_eq!(numbers.collect::<Vec<_>>(), ["1", "100"]);
        assert!(!connection.is_overdue(Instant::now() + 2 * STALL, &PATIENCE), "all is sent");
    }

    #[tokio::test]
    async fn a_reader_that_stalls_is_overdue_and_let_go() {
        let (server, _client, connection) = connected().await;
        let (tell, newest) = watch::channel(0);
        let (mut early, mut source) = (BytesMut::new(), Newest(newest));
        tell.send_replace(1);
        let limit = async {
            blocked(&connection).await;
            assert!(!connection.is_overdue(Instant::now(), &PATIENCE), "it has time to read");
            connection.end();
        };
        let send = send_events(&server, &mut early, &connection, &mut source);
        assert!(tokio::join!(send, limit).0.is_err());
    }

    #[tokio::test]
    async fn a_client_that_leaves_ends_its_stream() {
        let (server, client, connection) = connected().await;
        let (_tell, newest) = watch::channel(0);
        let (mut early, mut source) = (BytesMut::new(), Newest(newest));
        drop(client);
        send_events(&server, &mut early, &connection, &mut source).await.unwrap_err();
        assert!(early.is_empty());
    }
}
