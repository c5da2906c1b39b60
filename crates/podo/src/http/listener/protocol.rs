//! Detects the protocol of a connection within a deadline.

use crate::http::listener::connection::Connection;
use crate::jobs::tasks::Tasks;
use bytes::BytesMut;
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

/// The HTTP/2 connection preface.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    Http1,
    Http2,
}

/// The protocol that these first bytes show; `None` if more are needed.
fn protocol_of(bytes: &[u8]) -> Option<Protocol> {
    let n_common = bytes.iter().zip(PREFACE).take_while(|(given, wanted)| given == wanted).count();
    match n_common {
        n_common if n_common == PREFACE.len() => Some(Protocol::Http2),
        n_common if n_common < bytes.len() => Some(Protocol::Http1),
        _ => None,
    }
}

/// Reads until the protocol is clear; `None` if the client disconnects or exceeds the deadline for
/// headers.
pub(crate) async fn detect(
    stream: &mut TcpStream,
    read: &mut BytesMut,
    connection: &Connection,
    tasks: &Tasks,
) -> Option<Protocol> {
    let wait = async {
        loop {
            if let Some(protocol) = protocol_of(read) {
                return Some(protocol);
            }
            if stream.read_buf(read).await.ok()? == 0 {
                return None;
            }
        }
    };
    tokio::select! {
        protocol = wait => protocol,
        () = connection.let_go() => None,
        () = tasks.stopped() => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preface_is_http2_as_soon_as_it_is_whole() {
        assert_eq!(protocol_of(PREFACE), Some(Protocol::Http2));
        assert_eq!(protocol_of(&[PREFACE, b"more"].concat()), Some(Protocol::Http2));
        for end in 0..PREFACE.len() {
            assert_eq!(protocol_of(&PREFACE[..end]), None, "{end}");
        }
    }

    #[test]
    fn everything_else_is_http1_at_its_first_byte_that_differs() {
        for bytes in [&b"GET / HTTP/1.1"[..], b"PUT", b"PRI * HTTP/1.1", b"\0"] {
            assert_eq!(protocol_of(bytes), Some(Protocol::Http1));
        }
    }
}
