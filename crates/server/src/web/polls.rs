//! Polls at the head of a connection, answered before hyper sees them.
//!
//! Nine of ten requests of an opening ask where somebody stands in line. One that looks exactly as
//! it should is read and answered here, with very little around it. Whatever else comes, be it a
//! poll that gets an error, makes hyper take the connection over with all that has been read: what
//! is unusual has one place where it is handled.

use crate::api::{Edge, POLL_PATH, Poll, RequestId};
use crate::tasks::Tasks;
use app::queue::QueueView;
use bytes::{Buf, BytesMut};
use std::io::{ErrorKind, Result, Write};
use std::net::SocketAddr;
use std::pin::pin;
use std::time::{Duration, UNIX_EPOCH};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::Instant;

/// A head longer than this is no poll of ours.
const HEAD_MAX: usize = 4_096;

const HEADERS_MAX: usize = 32;

/// What becomes of a connection.
pub(super) enum Next {
    /// Something else came: these bytes, and what follows them.
    Other(BytesMut),
    /// The client is gone, or took too long, or the process ends.
    Over,
}

/// Answers polls until something else comes. A client has `patience` to finish a request, to start
/// the next, and to take an answer.
pub(super) async fn answer(
    stream: &mut TcpStream,
    edge: &Edge,
    peer: SocketAddr,
    tasks: &Tasks,
    patience: Duration,
) -> Next {
    let mut buffer = BytesMut::new();
    let mut answer = Vec::new();
    let mut stopped = pin!(tasks.stopped());
    let mut alarm = pin!(tokio::time::sleep(patience));
    loop {
        let length = match read_poll(&buffer) {
            Head::Poll { poll, length } => {
                let Some(view) = edge.poll(&poll, peer).await else { return Next::Other(buffer) };
                write_answer(&mut answer, &view, &edge.request_id(&poll));
                length
            }
            Head::Other => return Next::Other(buffer),
            Head::Part => {
                buffer.reserve(1_024);
                let deadline = Instant::now() + patience;
                let read = tokio::select! {
                    biased;
                    read = stream.read_buf(&mut buffer) => read.unwrap_or(0),
                    () = &mut stopped => 0,
                    () = ring(alarm.as_mut(), deadline) => 0,
                };
                if read == 0 {
                    return Next::Over;
                }
                continue;
            }
        };
        buffer.advance(length);
        if send(stream, &answer, patience).await.is_err() {
            return Next::Over;
        }
        answer.clear();
    }
}

/// Sends an answer, which nearly always fits into what the system takes at once.
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

/// Waits for the deadline. The alarm is set anew only when it rings too early: most requests come
/// long before, and setting it for each of them would cost more than reading it.
async fn ring(mut alarm: std::pin::Pin<&mut tokio::time::Sleep>, deadline: Instant) {
    loop {
        alarm.as_mut().await;
        if deadline <= alarm.deadline() {
            return;
        }
        alarm.as_mut().reset(deadline);
    }
}

/// What the buffer begins with.
#[derive(Debug, PartialEq, Eq)]
enum Head<'r> {
    Poll { poll: Poll<'r>, length: usize },
    Part,
    Other,
}

fn read_poll(bytes: &[u8]) -> Head<'_> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut request = httparse::Request::new(&mut headers);
    let length = match request.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) if bytes.len() < HEAD_MAX && may_be_poll(bytes) => {
            return Head::Part;
        }
        Ok(httparse::Status::Partial) | Err(_) => return Head::Other,
    };
    match poll_in(&request) {
        Some(poll) => Head::Poll { poll, length },
        None => Head::Other,
    }
}

/// Whether these first bytes can become a poll; other requests need not be waited for here.
fn may_be_poll(bytes: &[u8]) -> bool {
    let start = b"GET ".iter().chain(POLL_PATH.as_bytes());
    bytes.iter().zip(start).all(|(given, expected)| given == expected)
}

/// The poll that a request is, if it is nothing but a poll: no body, no wishes for the connection,
/// no header twice of those that count.
fn poll_in<'r>(request: &httparse::Request<'_, 'r>) -> Option<Poll<'r>> {
    if (request.method, request.version) != (Some("GET"), Some(1)) {
        return None;
    }
    let (path, query) = request.path?.split_once('?')?;
    let schedule = Poll::schedule_in(query).filter(|_| path == POLL_PATH)?;
    let mut host = None;
    let mut poll = Poll {
        schedule,
        place_token: "",
        authorization: None,
        cookie: None,
        accept_language: None,
        forwarded_for: None,
        trace_parent: None,
        request_id: None,
    };
    let mut place_token = None;
    for header in request.headers.iter() {
        let is = |name: &str| header.name.eq_ignore_ascii_case(name);
        let slot = match header.name.len() {
            4 if is("host") => &mut host,
            6 if is("cookie") => &mut poll.cookie,
            6 if is("expect") => return None,
            7 if is("upgrade") => return None,
            10 if is("connection") && header.value != b"keep-alive" => return None,
            11 if is("queue-token") => &mut place_token,
            11 if is("traceparent") => &mut poll.trace_parent,
            12 if is("x-request-id") => &mut poll.request_id,
            13 if is("authorization") => &mut poll.authorization,
            14 if is("content-length") && header.value != b"0" => return None,
            15 if is("accept-language") => &mut poll.accept_language,
            15 if is("x-forwarded-for") => &mut poll.forwarded_for,
            17 if is("transfer-encoding") => return None,
            _ => continue,
        };
        if slot.replace(str::from_utf8(header.value).ok()?).is_some() {
            return None;
        }
    }
    host?;
    poll.place_token = place_token?;
    Some(poll)
}

/// The whole answer, head and body.
fn write_answer(answer: &mut Vec<u8>, view: &QueueView, id: &RequestId) {
    const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\
        cache-control: no-store\r\nx-content-type-options: nosniff\r\nx-request-id: ";
    /// The length is known last, so there is room for its digits.
    const LENGTH: &str = "content-length: 00000\r\n\r\n";
    let now = Duration::from_millis(view.now.ms().try_into().unwrap_or(0));
    let date = httpdate::HttpDate::from(UNIX_EPOCH + now);
    answer.extend_from_slice(HEAD.as_bytes());
    answer.extend_from_slice(id.as_bytes());
    let _ = write!(answer, "\r\ndate: {date}\r\n{LENGTH}");
    let body_starts = answer.len();
    serde_json::to_writer(&mut *answer, view).expect("a view becomes JSON");
    let n_bytes = answer.len() - body_starts;
    let digits = &mut answer[body_starts - 9..body_starts - 4];
    let _ = write!(&mut &mut digits[..], "{n_bytes:05}");
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0190a000-0000-7000-8000-000000000000";

    fn request(line: &str, headers: &str) -> String {
        format!("{line} HTTP/1.1\r\nhost: podo\r\n{headers}\r\n")
    }

    fn poll(headers: &str) -> String {
        let line = format!("GET /api/queue/status?scheduleId={ID}");
        request(&line, &format!("Queue-Token: abc\r\n{headers}"))
    }

    #[test]
    fn a_plain_poll_is_read() {
        let text = poll(
            "Authorization: Bearer x\r\naccept-language: en\r\nCookie: a=b\r\nconnection: keep-alive\r\n",
        );
        let next = format!("{text}GET /");
        let Head::Poll { poll, length } = read_poll(next.as_bytes()) else { panic!("no poll") };
        assert_eq!(length, text.len());
        assert_eq!(poll.schedule.to_string(), ID);
        assert_eq!((poll.place_token, poll.authorization), ("abc", Some("Bearer x")));
        assert_eq!((poll.accept_language, poll.cookie), (Some("en"), Some("a=b")));
    }

    #[test]
    fn a_poll_in_pieces_is_waited_for() {
        let text = poll("");
        for end in 0..text.len() {
            assert_eq!(read_poll(&text.as_bytes()[..end]), Head::Part, "{end}");
        }
    }

    #[test]
    fn whatever_is_not_plain_is_for_hyper() {
        let unusual = [
            request("GET /", ""),
            request(&format!("POST /api/queue/status?scheduleId={ID}"), "queue-token: a\r\n"),
            request(&format!("GET /api/queue/status?scheduleId={ID}"), ""),
            request(&format!("GET /api/queue/status?scheduleId={ID}&x=1"), "queue-token: a\r\n"),
            request("GET /api/queue/status?scheduleId=1", "queue-token: a\r\n"),
            request("GET /api/queue/status", "queue-token: a\r\n"),
            poll("queue-token: other\r\n"),
            poll("host: other\r\n"),
            poll("content-length: 5\r\n"),
            poll("Transfer-Encoding: chunked\r\n"),
            poll("connection: close\r\n"),
            poll("expect: 100-continue\r\n"),
            poll("upgrade: h2c\r\n"),
            poll("").replace("HTTP/1.1", "HTTP/1.0"),
            poll("").replace("host: podo\r\n", ""),
            "PRI * HTTP/2.0\r\n".to_owned(),
            "POST".to_owned(),
            "nonsense".to_owned(),
            poll(&format!("x: {}\r\n", "y".repeat(HEAD_MAX)))[..HEAD_MAX].to_owned(),
        ];
        for text in unusual {
            assert_eq!(read_poll(text.as_bytes()), Head::Other, "{text}");
        }
    }
}
