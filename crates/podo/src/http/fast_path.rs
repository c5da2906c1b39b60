//! Well-formed enter, poll and select requests bypass hyper.
//!
//! They are nearly all requests of an opening, so this module parses and answers them with very
//! little overhead. At the first request of any other shape, hyper takes over the connection with
//! all bytes read so far: unusual requests are handled in one place.

use crate::http::listener::connection::Connection;
use crate::http::listener::deadlines::Patience;
use crate::jobs::tasks::Tasks;
use crate::routes::{
    Edge, FastRequest, FastResponse, FastRoute, Headers, schedule_in_body, schedule_in_query,
    seats_in_body,
};
use bytes::{Buf, BytesMut};
use std::io::{ErrorKind, Result, Write};
use std::pin::pin;
use std::time::{Duration, UNIX_EPOCH};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::Instant;

/// A longer request goes to hyper.
const LENGTH_MAX: usize = 4_096;

const HEADERS_MAX: usize = 32;

/// What happens to the connection next.
pub(crate) enum Next {
    /// Another request arrived: these bytes, and what follows them.
    Other(BytesMut),
    /// The client disconnected or timed out, or the process is stopping.
    Over,
}

/// Serves requests until another kind arrives. The client has a deadline to start a request, the
/// same one from its first byte to its last, and another one to read the response.
pub(crate) async fn answer(
    stream: &mut TcpStream,
    edge: &Edge,
    connection: &Connection,
    tasks: &Tasks,
    patience: &Patience,
) -> Next {
    let mut buffer = BytesMut::new();
    let mut answer = Vec::new();
    let mut stopped = pin!(tasks.stopped());
    let mut let_go = pin!(connection.let_go());
    let mut deadline = Instant::now() + patience.header;
    let mut alarm = pin!(tokio::time::sleep_until(deadline));
    loop {
        let length = match read_request(&buffer) {
            Head::FastRequest { request, length } => {
                let Some(response) = edge.answer_fast(&request, connection.peer).await else {
                    connection.begin_reading_at(deadline - patience.header);
                    return Next::Other(buffer);
                };
                write_answer(&mut answer, edge, &request, &response);
                length
            }
            Head::Other => {
                connection.begin_reading_at(deadline - patience.header);
                return Next::Other(buffer);
            }
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
                    () = ring(alarm.as_mut(), deadline) => 0,
                };
                if read == 0 && is_first {
                    return Next::Over;
                }
                // An incomplete request goes to hyper.
                if read == 0 {
                    connection.begin_reading_at(deadline - patience.header);
                    return Next::Other(buffer);
                }
                if is_first {
                    deadline = Instant::now() + patience.header;
                }
                continue;
            }
        };
        buffer.advance(length);
        if !buffer.is_empty() {
            deadline = Instant::now() + patience.header;
        }
        if send(stream, &answer, patience.send_stall).await.is_err() {
            return Next::Over;
        }
        answer.clear();
    }
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
async fn ring(mut alarm: std::pin::Pin<&mut tokio::time::Sleep>, deadline: Instant) {
    loop {
        alarm.as_mut().await;
        if deadline <= alarm.deadline() {
            return;
        }
        alarm.as_mut().reset(deadline);
    }
}

/// The start of the buffer.
#[derive(Debug, PartialEq, Eq)]
#[expect(
    clippy::large_enum_variant,
    reason = "it is short-lived; a box would cost every poll an allocation"
)]
enum Head<'r> {
    FastRequest { request: FastRequest<'r>, length: usize },
    Part,
    Other,
}

fn read_request(bytes: &[u8]) -> Head<'_> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut request = httparse::Request::new(&mut headers);
    let head = match request.parse(bytes) {
        Ok(httparse::Status::Complete(head)) => head,
        Ok(httparse::Status::Partial) if bytes.len() < LENGTH_MAX && may_be_fast_request(bytes) => {
            return Head::Part;
        }
        Ok(httparse::Status::Partial) | Err(_) => return Head::Other,
    };
    let body = &bytes[head..];
    match request_in(&request, body) {
        Some((_, n_bytes)) if head.saturating_add(n_bytes) > LENGTH_MAX => Head::Other,
        Some((_, n_bytes)) if n_bytes > body.len() => Head::Part,
        Some((Some(request), n_bytes)) => Head::FastRequest { request, length: head + n_bytes },
        Some((None, _)) | None => Head::Other,
    }
}

/// Whether these first bytes can still become a fast request; otherwise hyper takes over at once.
fn may_be_fast_request(bytes: &[u8]) -> bool {
    FastRoute::ALL.iter().any(|route| {
        let start = [route.method().as_bytes(), b" ", route.path().as_bytes()];
        let start = start.into_iter().flatten();
        bytes.iter().zip(start).all(|(given, expected)| given == expected)
    })
}

/// The request and the length of its body, if it contains nothing unusual: no connection options,
/// no relevant header twice. No request if the body is incomplete or invalid.
fn request_in<'r>(
    request: &httparse::Request<'_, 'r>,
    body: &'r [u8],
) -> Option<(Option<FastRequest<'r>>, usize)> {
    let (path, query) = match request.path?.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (request.path?, None),
    };
    let is_asked =
        |route: &&FastRoute| request.method == Some(route.method()) && path == route.path();
    let route = *FastRoute::ALL.iter().find(is_asked).filter(|_| request.version == Some(1))?;
    let headers = read_headers(request.headers)?;
    headers.host.filter(|host| !host.is_empty())?;
    let n_bytes = headers.content_length.map_or(Some(0), length_of)?;
    let is_json = headers.content_type == Some("application/json");
    let body = body.get(..n_bytes);
    let about = match (route, query) {
        (FastRoute::Status, Some(query)) if n_bytes == 0 && headers.place_token.is_some() => {
            Some((schedule_in_query(query)?, Vec::new()))
        }
        (FastRoute::Enter, None) if is_json => {
            body.and_then(schedule_in_body).map(|it| (it, Vec::new()))
        }
        (FastRoute::Select, None) if is_json => body.and_then(seats_in_body),
        (FastRoute::Status | FastRoute::Enter | FastRoute::Select, _) => return None,
    };
    let request = about.map(|(schedule, seats)| FastRequest {
        route,
        schedule,
        seats,
        body: body.unwrap_or_default(),
        headers,
    });
    Some((request, n_bytes))
}

/// `None` if a header occurs twice, or asks for something that hyper must handle.
fn read_headers<'r>(given: &[httparse::Header<'r>]) -> Option<Headers<'r>> {
    let mut headers = Headers::default();
    for header in given {
        let is = |name: &str| header.name.eq_ignore_ascii_case(name);
        let slot = match header.name.len() {
            4 if is("host") => &mut headers.host,
            6 if is("cookie") => &mut headers.cookie,
            6 if is("origin") => &mut headers.origin,
            6 if is("expect") => return None,
            7 if is("upgrade") => return None,
            9 if is("forwarded") => &mut headers.forwarded,
            10 if is("connection") && header.value != b"keep-alive" => return None,
            11 if is("queue-token") => &mut headers.place_token,
            11 if is("entry-token") => &mut headers.entry_token,
            11 if is("traceparent") => &mut headers.trace_parent,
            12 if is("x-request-id") => &mut headers.request_id,
            12 if is("content-type") => &mut headers.content_type,
            13 if is("authorization") => &mut headers.authorization,
            14 if is("content-length") => &mut headers.content_length,
            14 if is("sec-fetch-site") => &mut headers.fetch_site,
            15 if is("accept-language") => &mut headers.accept_language,
            15 if is("x-forwarded-for") => &mut headers.forwarded_for,
            15 if is("idempotency-key") => &mut headers.idempotency_key,
            16 if is("challenge-answer") => return None,
            17 if is("transfer-encoding") => return None,
            _ => continue,
        };
        // We would read UTF-8, but the ordinary path accepts only ASCII here.
        let value = header.value.is_ascii().then(|| str::from_utf8(header.value).ok())?;
        if slot.replace(value?).is_some() {
            return None;
        }
    }
    Some(headers)
}

/// Digits only: `parse` would also accept a sign.
fn length_of(text: &str) -> Option<usize> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

/// Writes the whole response, head and body.
fn write_answer(
    answer: &mut Vec<u8>,
    edge: &Edge,
    request: &FastRequest<'_>,
    response: &FastResponse,
) {
    /// The length is known last, so its digits are reserved.
    const LENGTH: &str = "content-length: 00000\r\n\r\n";
    let status = response.status();
    let reason = status.canonical_reason().unwrap_or_default();
    let id = edge.request_id(request);
    let now = Duration::from_millis(edge.now().ms().try_into().unwrap_or(0));
    let date = httpdate::HttpDate::from(UNIX_EPOCH + now);
    let _ = write!(answer, "HTTP/1.1 {} {reason}\r\n", status.as_str());
    answer.extend_from_slice(response.head().as_bytes());
    edge.write_common_headers(answer, response);
    answer.extend_from_slice(b"x-request-id: ");
    answer.extend_from_slice(id.as_bytes());
    if let Some(seconds) = response.retry_after() {
        let _ = write!(answer, "\r\nretry-after: {seconds}");
    }
    let _ = write!(answer, "\r\ndate: {date}\r\n{LENGTH}");
    let body_starts = answer.len();
    response.write_body(answer, &id);
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
        post("/api/queue/enter", headers, body)
    }

    fn select(headers: &str) -> String {
        let seat = ID.replace("-000000000000", "-000000000007");
        let body = format!("{{\"scheduleId\":\"{ID}\",\"seatIds\":[\"{seat}\"]}}");
        post("/api/booking/seats/select", headers, &body)
    }

    fn post(path: &str, headers: &str, body: &str) -> String {
        let length = body.len();
        let headers =
            format!("content-type: application/json\r\ncontent-length: {length}\r\n{headers}");
        format!("{}{body}", request(&format!("POST {path}"), &headers))
    }

    #[test]
    fn a_plain_poll_is_read() {
        let text = poll(
            "Authorization: Bearer x\r\naccept-language: en\r\nCookie: a=b\r\nconnection: keep-alive\r\n",
        );
        let next = format!("{text}GET /");
        let Head::FastRequest { request, length } = read_request(next.as_bytes()) else {
            panic!("not a poll")
        };
        assert_eq!(length, text.len());
        assert_eq!(request.schedule.to_string(), ID);
        assert_eq!(request.route, FastRoute::Status);
        let headers = request.headers;
        assert_eq!((headers.place_token, headers.authorization), (Some("abc"), Some("Bearer x")));
        assert_eq!((headers.accept_language, headers.cookie), (Some("en"), Some("a=b")));
    }

    #[test]
    fn a_plain_wish_to_enter_is_read() {
        let text = enter("Authorization: Bearer x\r\n", &body());
        let next = format!("{text}GET /");
        let Head::FastRequest { request, length } = read_request(next.as_bytes()) else {
            panic!("not a request")
        };
        assert_eq!(length, text.len());
        assert_eq!((request.route, request.schedule.to_string().as_str()), (FastRoute::Enter, ID));
        let headers = request.headers;
        assert_eq!((headers.place_token, headers.authorization), (None, Some("Bearer x")));
    }

    #[test]
    fn a_plain_wish_for_seats_is_read() {
        let text = select("Entry-Token: in\r\nIdempotency-Key: 1\r\n");
        let next = format!("{text}GET /");
        let Head::FastRequest { request, length } = read_request(next.as_bytes()) else {
            panic!("not a request")
        };
        assert_eq!(length, text.len());
        assert_eq!((request.route, request.schedule.to_string().as_str()), (FastRoute::Select, ID));
        assert_eq!(request.seats, [request.schedule.seat(7)]);
        assert!(
            text.ends_with(str::from_utf8(request.body).unwrap()),
            "the idempotency key covers these bytes"
        );
        let headers = request.headers;
        assert_eq!((headers.entry_token, headers.idempotency_key), (Some("in"), Some("1")));
    }

    #[test]
    fn a_request_in_pieces_is_waited_for() {
        for text in [poll(""), enter("", &body()), select("")] {
            for end in 0..text.len() {
                assert_eq!(read_request(&text.as_bytes()[..end]), Head::Part, "{end} of {text}");
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
            select("").replace("seatIds", "seatIdz"),
            select("entry-token: a\r\nentry-token: b\r\n"),
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
            assert_eq!(read_request(text.as_bytes()), Head::Other, "{text}");
        }
    }
}
