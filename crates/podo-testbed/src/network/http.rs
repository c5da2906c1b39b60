//! Minimal HTTP for polling a server: one GET, one status.

use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// The timeout of one attempt.
const TRY_MAX: Duration = Duration::from_secs(2);

/// The pause between two attempts: short compared with a start, long compared with a connection.
const PAUSE: Duration = Duration::from_millis(20);

/// How much of the status line is read.
const HEAD_MAX: u64 = 64;

/// The address in a URL such as `http://127.0.0.1:43121`.
pub fn address(url: &str) -> Result<SocketAddr> {
    let host = url.strip_prefix("http://").unwrap_or(url).trim_end_matches('/');
    let bad = |_| Error::new(ErrorKind::InvalidInput, format!("`{url}` is not http://IP:PORT"));
    host.parse().map_err(bad)
}

/// Sends `GET path` and returns the status of the answer.
pub fn get_status(address: SocketAddr, path: &str) -> Result<u16> {
    let mut stream = TcpStream::connect_timeout(&address, TRY_MAX)?;
    stream.set_read_timeout(Some(TRY_MAX))?;
    stream.set_write_timeout(Some(TRY_MAX))?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    // In one write: a server that answers the first of several pieces resets the connection.
    stream.write_all(request.as_bytes())?;
    let mut head = Vec::new();
    stream.take(HEAD_MAX).read_to_end(&mut head)?;
    parse_status(&head)
}

fn parse_status(head: &[u8]) -> Result<u16> {
    let head = String::from_utf8_lossy(head);
    let mut words = head.split_ascii_whitespace();
    let is_http = words.next().is_some_and(|version| version.starts_with("HTTP/1."));
    let status = words.next().filter(|_| is_http).and_then(|status| status.parse().ok());
    status.ok_or_else(|| Error::new(ErrorKind::InvalidData, format!("not an answer: `{head}`")))
}

/// Polls `path` until the answer is 200. Gives up when `is_alive` returns false, or after `limit`;
/// the error then describes the last attempt.
pub fn wait_for_ok(
    address: SocketAddr,
    path: &str,
    limit: Duration,
    mut is_alive: impl FnMut() -> bool,
) -> Result<()> {
    let start = Instant::now();
    loop {
        let last = match get_status(address, path) {
            Ok(200) => return Ok(()),
            Ok(status) => format!("the last answer was {status}"),
            Err(error) => format!("the last try failed: {error}"),
        };
        if !is_alive() {
            return Err(Error::new(ErrorKind::BrokenPipe, format!("the process ended; {last}")));
        }
        if limit <= start.elapsed() {
            let what = format!("{path} was not 200 within {limit:?}; {last}");
            return Err(Error::new(ErrorKind::TimedOut, what));
        }
        std::thread::sleep(PAUSE);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::net::TcpListener;

    /// Answers one connection after the other with these statuses, and repeats the last one.
    pub(crate) fn serve(statuses: &'static [u16]) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            for (index, stream) in listener.incoming().enumerate() {
                let status = statuses[index.min(statuses.len() - 1)];
                let mut stream = stream.unwrap();
                let n_read = stream.read(&mut [0; 1024]).unwrap();
                assert!(n_read < 1024);
                write!(stream, "HTTP/1.1 {status} X\r\ncontent-length: 0\r\n\r\n").unwrap();
            }
        });
        address
    }

    const SOON: Duration = Duration::from_secs(5);

    #[test]
    fn a_server_is_waited_for_until_it_is_ready() {
        let address = serve(&[503, 404, 200]);
        wait_for_ok(address, "/readyz", SOON, || true).unwrap();
    }

    #[test]
    fn the_wait_ends_with_the_time_limit() {
        let error = wait_for_ok(serve(&[503]), "/readyz", Duration::ZERO, || true).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        assert!(error.to_string().ends_with("the last answer was 503"), "{error}");
    }

    #[test]
    fn the_wait_ends_with_the_process() {
        let port = crate::free_port().unwrap();
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let error = wait_for_ok(address, "/readyz", SOON, || false).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BrokenPipe);
    }

    #[test]
    fn a_status_is_read_from_an_answer_and_from_nothing_else() {
        assert_eq!(parse_status(b"HTTP/1.1 204 No Content\r\n").unwrap(), 204);
        for wrong in ["", "HTTP/1.1", "HTTP/1.1 ok", "SSH-2.0 200", "200"] {
            assert!(parse_status(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_address_is_read_from_a_url() {
        let expected = SocketAddr::from(([127, 0, 0, 1], 80));
        assert_eq!(address("http://127.0.0.1:80").unwrap(), expected);
        assert_eq!(address("http://127.0.0.1:80/").unwrap(), expected);
        assert!(address("podo 0.1.0").is_err());
    }
}
