//! What is asked of the waiting room at the head of a connection, answered before hyper sees it.
//!
//! Nearly all requests of an opening want to enter or ask where somebody stands in line. One that
//! looks exactly as it should is read and answered here, with very little around it. Whatever else
//! comes, be it one of these that gets an error, makes hyper take the connection over with all that
//! has been read: what is unusual has one place where it is handled.

use crate::api::{Ask, Edge, RequestId, Wish, schedule_in_body, schedule_in_query};
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

/// A request longer than this is none of these.
const LENGTH_MAX: usize = 4_096;

const HEADERS_MAX: usize = 32;

/// What becomes of a connection.
pub(super) enum Next {
    /// Something else came: these bytes, and what follows them.
    Other(BytesMut),
    /// The client is gone, or took too long, or the process ends.
    Over,
}

/// Answers until something else comes. A client has `patience` to finish a request, to start
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
        let length = match read_ask(&buffer) {
            Head::Ask { ask, length } => {
                let Some(view) = edge.ask(&ask, peer).await else { return Next::Other(buffer) };
                write_answer(&mut answer, &view, &edge.request_id(&ask));
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
    Ask { ask: Ask<'r>, length: usize },
    Part,
    Other,
}

fn read_ask(bytes: &[u8]) -> Head<'_> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut request = httparse::Request::new(&mut headers);
    let head = match request.parse(bytes) {
        Ok(httparse::Status::Complete(head)) => head,
        Ok(httparse::Status::Partial) if bytes.len() < LENGTH_MAX && may_be_ask(bytes) => {
            return Head::Part;
        }
        Ok(httparse::Status::Partial) | Err(_) => return Head::Other,
    };
    let body = &bytes[head..];
    match ask_in(&request, body) {
        Some((_, n_bytes)) if head.saturating_add(n_bytes) > LENGTH_MAX => Head::Other,
        Some((_, n_bytes)) if n_bytes > body.len() => Head::Part,
        Some((Some(ask), n_bytes)) => Head::Ask { ask, length: head + n_bytes },
        Some((None, _)) | None => Head::Other,
    }
}

/// Whether these first bytes can become one of our requests; others need not be waited for here.
fn may_be_ask(bytes: &[u8]) -> bool {
    Wish::ALL.iter().any(|wish| {
        let start = [wish.method().as_bytes(), b" ", wish.path().as_bytes()];
        let start = start.into_iter().flatten();
        bytes.iter().zip(start).all(|(given, expected)| given == expected)
    })
}

/// What is asked, and the length of its body, if the request is nothing but that: no wishes for the
/// connection, no header twice of those that count, nothing that a browser's page may have made it
/// send. Without an ask while the body has not arrived, or says something else.
fn ask_in<'r>(
    request: &httparse::Request<'_, 'r>,
    body: &[u8],
) -> Option<(Option<Ask<'r>>, usize)> {
    let (path, query) = match request.path?.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (request.path?, None),
    };
    let is_asked = |wish: &&Wish| request.method == Some(wish.method()) && path == wish.path();
    let wish = *Wish::ALL.iter().find(is_asked).filter(|_| request.version == Some(1))?;
    let [mut host, mut place_token, mut kind, mut n_bytes] = [None; 4];
    let [mut authorization, mut cookie, mut accept_language] = [None; 3];
    let [mut forwarded_for, mut trace_parent, mut request_id] = [None; 3];
    for header in request.headers.iter() {
        let is = |name: &str| header.name.eq_ignore_ascii_case(name);
        let slot = match header.name.len() {
            4 if is("host") => &mut host,
            6 if is("cookie") => &mut cookie,
            6 if is("origin") && wish == Wish::Enter => return None,
            6 if is("expect") => return None,
            7 if is("upgrade") => return None,
            10 if is("connection") && header.value != b"keep-alive" => return None,
            11 if is("queue-token") => &mut place_token,
            11 if is("traceparent") => &mut trace_parent,
            12 if is("x-request-id") => &mut request_id,
            12 if is("content-type") => &mut kind,
            13 if is("authorization") => &mut authorization,
            14 if is("content-length") => &mut n_bytes,
            14 if is("sec-fetch-site") && wish == Wish::Enter => return None,
            15 if is("accept-language") => &mut accept_language,
            15 if is("x-forwarded-for") => &mut forwarded_for,
            16 if is("challenge-answer") => return None,
            17 if is("transfer-encoding") => return None,
            _ => continue,
        };
        if slot.replace(str::from_utf8(header.value).ok()?).is_some() {
            return None;
        }
    }
    host?;
    let n_bytes = n_bytes.map_or(Some(0), length_of)?;
    let schedule = match (wish, query) {
        (Wish::Status, Some(query)) if n_bytes == 0 && place_token.is_some() => {
            Some(schedule_in_query(query)?)
        }
        (Wish::Enter, None) if kind == Some("application/json") => {
            body.get(..n_bytes).and_then(schedule_in_body)
        }
        (Wish::Status | Wish::Enter, _) => return None,
    };
    let ask = schedule.map(|schedule| Ask {
        wish,
        schedule,
        place_token,
        authorization,
        cookie,
        accept_language,
        forwarded_for,
        trace_parent,
        request_id,
    });
    Some((ask, n_bytes))
}

/// Digits alone: a sign, which a number may have, is no part of a length.
fn length_of(text: &str) -> Option<usize> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
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

    fn body() -> String {
        format!("{{\"scheduleId\":\"{ID}\"}}")
    }

    fn enter(headers: &str, body: &str) -> String {
        let length = body.len();
        let headers =
            format!("content-type: application/json\r\ncontent-length: {length}\r\n{headers}");
        format!("{}{body}", request("POST /api/queue/enter", &headers))
    }

    #[test]
    fn a_plain_poll_is_read() {
        let text = poll(
            "Authorization: Bearer x\r\naccept-language: en\r\nCookie: a=b\r\nconnection: keep-alive\r\n",
        );
        let next = format!("{text}GET /");
        let Head::Ask { ask, length } = read_ask(next.as_bytes()) else { panic!("no poll") };
        assert_eq!(length, text.len());
        assert_eq!(ask.schedule.to_string(), ID);
        assert_eq!(ask.wish, Wish::Status);
        assert_eq!((ask.place_token, ask.authorization), (Some("abc"), Some("Bearer x")));
        assert_eq!((ask.accept_language, ask.cookie), (Some("en"), Some("a=b")));
    }

    #[test]
    fn a_plain_wish_to_enter_is_read() {
        let text = enter("Authorization: Bearer x\r\n", &body());
        let next = format!("{text}GET /");
        let Head::Ask { ask, length } = read_ask(next.as_bytes()) else { panic!("no wish") };
        assert_eq!(length, text.len());
        assert_eq!((ask.wish, ask.schedule.to_string().as_str()), (Wish::Enter, ID));
        assert_eq!((ask.place_token, ask.authorization), (None, Some("Bearer x")));
    }

    #[test]
    fn a_request_in_pieces_is_waited_for() {
        for text in [poll(""), enter("", &body())] {
            for end in 0..text.len() {
                assert_eq!(read_ask(&text.as_bytes()[..end]), Head::Part, "{end} of {text}");
            }
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
            "PUT".to_owned(),
            "POST /api/wallet".to_owned(),
            enter("origin: https://podo.kr\r\n", &body()),
            enter("sec-fetch-site: same-origin\r\n", &body()),
            enter("challenge-answer: a.1\r\n", &body()),
            enter("content-type: application/json\r\n", &body()),
            enter("content-length: 3\r\n", &body()),
            enter("", &body()).replace("application/json", "text/plain"),
            enter("", &body()).replace("/enter", "/enter?x=1"),
            enter("", &body()).replace("content-length: 53", "content-length: +53"),
            enter("", &body()).replace("content-length: 53", "content-length: 5000"),
            enter("", &body())
                .replace("content-length: 53", &format!("content-length: {}", u64::MAX)),
            enter("", &format!("[\"{ID}\"]")),
            enter("", "{}"),
            enter("", &body().replace('}', ",\"x\":1}")),
            "nonsense".to_owned(),
            poll(&format!("x: {}\r\n", "y".repeat(LENGTH_MAX)))[..LENGTH_MAX].to_owned(),
        ];
        for text in unusual {
            assert_eq!(read_ask(text.as_bytes()), Head::Other, "{text}");
        }
    }
}
