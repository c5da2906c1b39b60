//! HTTP/1.1 over one keep-alive connection, with as little work per request as possible: the
//! generator shares its processors with the server that it measures.

use crate::Target;
use crate::http::client::{Call, Credentials};
use bytes::{Bytes, BytesMut};
use serde::de::DeserializeOwned;
use std::fmt::Write;
use std::io::{Error, ErrorKind, Result};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Most answers fit into one read of this many bytes.
const READ_AT_ONCE: usize = 4_096;

#[derive(Clone, Debug)]
pub(crate) struct HttpResponse {
    pub(crate) status: u16,
    pub(crate) body: Bytes,
}

impl HttpResponse {
    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    pub(crate) fn json<T: DeserializeOwned>(&self) -> std::result::Result<T, serde_json::Error> {
        serde_json::from_slice(&self.body)
    }
}

pub(crate) struct Connection {
    stream: TcpStream,
    buffer: BytesMut,
}

impl Connection {
    pub(crate) fn over(stream: TcpStream) -> Connection {
        Connection { stream, buffer: BytesMut::new() }
    }

    /// Sends a request and reads its answer. After an error the connection is of no use.
    pub(crate) async fn exchange(&mut self, request: &[u8]) -> Result<HttpResponse> {
        self.stream.write_all(request).await?;
        self.read_answer().await
    }

    async fn read_answer(&mut self) -> Result<HttpResponse> {
        loop {
            if let Some((status, head, length)) = read_head(&self.buffer)? {
                while self.buffer.len() < head + length {
                    self.read_more().await?;
                }
                let answer = self.buffer.split_to(head + length).freeze();
                return Ok(HttpResponse { status, body: answer.slice(head..) });
            }
            self.read_more().await?;
        }
    }

    async fn read_more(&mut self) -> Result<()> {
        self.buffer.reserve(READ_AT_ONCE);
        match self.stream.read_buf(&mut self.buffer).await? {
            0 => Err(ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }
}

/// The status and the lengths of head and body, once the head is complete.
fn read_head(bytes: &[u8]) -> Result<Option<(u16, usize, usize)>> {
    const END: &[u8] = b"\r\n\r\n";
    let Some(at) = bytes.windows(END.len()).position(|it| it == END) else { return Ok(None) };
    let bad = || Error::new(ErrorKind::InvalidData, "not an answer with a length");
    let head = str::from_utf8(&bytes[..at]).map_err(|_not_text| bad())?;
    let mut lines = head.split("\r\n");
    let status = lines.next().and_then(|line| line.split(' ').nth(1));
    let status: u16 = status.and_then(|it| it.parse().ok()).ok_or_else(bad)?;
    let has_no_body = status == 204 || status == 304;
    let length = lines.find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
    });
    let length = if has_no_body { Some(0) } else { length };
    Ok(Some((status, at + END.len(), length.ok_or_else(bad)?)))
}

/// The first line of a request and the headers that name the server and the caller.
pub(crate) fn head(target: &Target, call: &Call, credentials: Credentials<'_>) -> String {
    let mut head = format!(
        "{} {}{} HTTP/1.1\r\nhost: {}\r\n",
        call.method, target.prefix, call.path, target.authority
    );
    for (name, value) in credentials.headers() {
        let _ = write!(head, "{name}: {value}\r\n");
    }
    head
}

/// The bytes of one request.
pub(crate) fn request(target: &Target, call: &Call, credentials: Credentials<'_>) -> Bytes {
    let mut head = head(target, call, credentials);
    if let Some(accept) = call.accept {
        let _ = write!(head, "accept: {accept}\r\n");
    }
    if !call.body.is_empty() {
        let _ = write!(head, "content-type: application/json\r\n");
    }
    let _ = write!(head, "content-length: {}\r\n\r\n", call.body.len());
    [head.as_bytes(), &call.body].concat().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_when_its_head_is_complete() {
        let whole = b"HTTP/1.1 409 Conflict\r\nContent-Length: 5\r\n\r\nhello";
        assert_eq!(read_head(&whole[..30]).unwrap(), None);
        assert_eq!(read_head(whole).unwrap(), Some((409, whole.len() - 5, 5)));
        assert_eq!(read_head(b"HTTP/1.1 304 Not Modified\r\n\r\n").unwrap().unwrap().2, 0);
        assert!(read_head(b"HTTP/1.1 200 OK\r\n\r\n").is_err());
    }
}
