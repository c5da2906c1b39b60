//! Parses requests of the fast path with `httparse`, as hyper does. Anything unusual is left to
//! hyper: options of the connection, headers that occur twice, bodies of unknown length.

use crate::http::edge::{Call, EdgeHeaders, FastRequest, FastRoute};
use crate::http::extract::{ClientHeaders, access_token_in, parse};
use crate::routes::waiting_room::queue::QueueScheduleBody;
use podo_domain::ScheduleId;

/// A longer request goes to hyper.
pub(crate) const LENGTH_MAX: usize = 4_096;

const HEADERS_MAX: usize = 32;

/// The start of the buffer.
#[derive(Debug, PartialEq, Eq)]
#[expect(
    clippy::large_enum_variant,
    reason = "it is short-lived; a box would cost every poll an allocation"
)]
pub(crate) enum Head<'r> {
    FastRequest { request: FastRequest<'r>, length: usize },
    Part,
    Other,
}

pub(crate) fn read_request(bytes: &[u8]) -> Head<'_> {
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

/// The path of a route around its id, if it contains one.
fn around_id(route: FastRoute) -> (&'static str, Option<&'static str>) {
    match route.template().split_once("{id}") {
        Some((start, end)) => (start, Some(end)),
        None => (route.template(), None),
    }
}

/// Whether these first bytes can still become a fast request; otherwise hyper takes over at once.
fn may_be_fast_request(bytes: &[u8]) -> bool {
    FastRoute::ALL.iter().any(|route| {
        let start = [route.method().as_bytes(), b" ", around_id(*route).0.as_bytes()];
        let start = start.into_iter().flatten();
        bytes.iter().zip(start).all(|(given, expected)| given == expected)
    })
}

/// The route, and the id in its path.
fn route_of<'r>(method: &str, path: &'r str) -> Option<(FastRoute, &'r str)> {
    FastRoute::ALL.into_iter().filter(|route| route.method() == method).find_map(|route| {
        let (start, end) = around_id(route);
        let rest = path.strip_prefix(start)?;
        let id = match end {
            Some(end) => rest.strip_suffix(end)?,
            None => rest.is_empty().then_some(rest)?,
        };
        Some((route, id))
    })
}

/// The request and the length of its body, if it contains nothing unusual. No request if the body
/// is incomplete or invalid.
fn request_in<'r>(
    request: &httparse::Request<'_, 'r>,
    body: &'r [u8],
) -> Option<(Option<FastRequest<'r>>, usize)> {
    let (path, query) = match request.path?.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (request.path?, None),
    };
    let (route, id) = route_of(request.method?, path).filter(|_| request.version == Some(1))?;
    let Headers { client, edge, body: about_body } = read_headers(request.headers)?;
    edge.host.filter(|host| !host.is_empty())?;
    let n_bytes = about_body.length.map_or(Some(0), length_of)?;
    let is_json = about_body.kind == Some("application/json");
    let body = body.get(..n_bytes);
    let call = match (route, query) {
        (FastRoute::Status, Some(query)) if n_bytes == 0 => Some(Call::Status(schedule_in(query)?)),
        (FastRoute::QueueStream, Some(query)) if n_bytes == 0 => {
            Some(Call::QueueStream(schedule_in(query)?))
        }
        (FastRoute::SeatStream, None) if n_bytes == 0 => Some(Call::SeatStream(id.parse().ok()?)),
        (FastRoute::Enter, None) if is_json => {
            let parsed = body.and_then(|body| parse::<QueueScheduleBody>(body).ok());
            parsed.map(|body| Call::Enter(body.schedule_id))
        }
        (FastRoute::Select, None) if is_json => {
            body.and_then(|body| Some(Call::Select(parse(body).ok()?, body)))
        }
        (
            FastRoute::Status
            | FastRoute::QueueStream
            | FastRoute::SeatStream
            | FastRoute::Enter
            | FastRoute::Select,
            _,
        ) => return None,
    };
    Some((call.map(|call| FastRequest { call, client, edge }), n_bytes))
}

/// The schedule, if the query is exactly `scheduleId=<id>`.
fn schedule_in(query: &str) -> Option<ScheduleId> {
    query.strip_prefix("scheduleId=")?.parse().ok()
}

#[derive(Default)]
struct Headers<'r> {
    client: ClientHeaders<'r>,
    edge: EdgeHeaders<'r>,
    body: BodyHeaders<'r>,
}

#[derive(Default)]
struct BodyHeaders<'r> {
    kind: Option<&'r str>,
    length: Option<&'r str>,
}

/// `None` if a header occurs twice, or asks for something that hyper must handle.
fn read_headers<'r>(given: &[httparse::Header<'r>]) -> Option<Headers<'r>> {
    let mut headers = Headers::default();
    let Headers { client, edge, body } = &mut headers;
    let (mut authorization, mut cookie) = (None, None);
    for header in given {
        let is = |name: &str| header.name.eq_ignore_ascii_case(name);
        let slot = match header.name.len() {
            4 if is("host") => &mut edge.host,
            6 if is("cookie") => &mut cookie,
            6 if is("origin") => &mut edge.origin,
            6 if is("expect") => return None,
            7 if is("upgrade") => return None,
            9 if is("forwarded") => &mut edge.forwarded,
            10 if is("connection") && header.value != b"keep-alive" => return None,
            11 if is("queue-token") => &mut client.place_token,
            11 if is("entry-token") => &mut client.entry_token,
            11 if is("traceparent") => &mut edge.trace_parent,
            12 if is("x-request-id") => &mut edge.request_id,
            12 if is("content-type") => &mut body.kind,
            13 if is("authorization") => &mut authorization,
            13 if is("last-event-id") => &mut client.last_event_id,
            14 if is("content-length") => &mut body.length,
            14 if is("sec-fetch-site") => &mut edge.fetch_site,
            15 if is("accept-language") => &mut client.accept_language,
            15 if is("x-forwarded-for") => &mut edge.forwarded_for,
            15 if is("idempotency-key") => &mut client.idempotency_key,
            16 if is("challenge-answer") => &mut client.challenge_answer,
            17 if is("transfer-encoding") => return None,
            _ => continue,
        };
        // We would read UTF-8, but the ordinary path accepts only ASCII here.
        let value = header.value.is_ascii().then(|| str::from_utf8(header.value).ok())?;
        if slot.replace(value?).is_some() {
            return None;
        }
    }
    client.access_token = access_token_in(authorization, cookie.into_iter());
    Some(headers)
}

/// Digits only: `parse` would also accept a sign.
fn length_of(text: &str) -> Option<usize> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
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
        assert_eq!(request.call, Call::Status(ID.parse().unwrap()));
        let client = request.client;
        assert_eq!((client.place_token, client.access_token), (Some("abc"), Some("x")));
        assert_eq!(client.accept_language, Some("en"));
    }

    #[test]
    fn a_plain_wish_to_enter_is_read() {
        let text = enter("Authorization: Bearer x\r\nchallenge-answer: a.1\r\n", &body());
        let next = format!("{text}GET /");
        let Head::FastRequest { request, length } = read_request(next.as_bytes()) else {
            panic!("not a request")
        };
        assert_eq!(length, text.len());
        assert_eq!(request.call, Call::Enter(ID.parse().unwrap()));
        let client = request.client;
        assert_eq!((client.place_token, client.access_token), (None, Some("x")));
        assert_eq!(client.challenge_answer, Some("a.1"));
    }

    #[test]
    fn a_plain_wish_for_seats_is_read() {
        let text = select("Entry-Token: in\r\nIdempotency-Key: 1\r\n");
        let next = format!("{text}GET /");
        let Head::FastRequest { request, length } = read_request(next.as_bytes()) else {
            panic!("not a request")
        };
        assert_eq!(length, text.len());
        let Call::Select(body, bytes) = request.call else { panic!("not a select") };
        assert_eq!(body.seat_ids, [body.schedule_id.seat(7)]);
        assert!(
            text.ends_with(str::from_utf8(bytes).unwrap()),
            "the idempotency key covers these bytes"
        );
        let client = request.client;
        assert_eq!((client.entry_token, client.idempotency_key), (Some("in"), Some("1")));
    }

    fn queue_stream(headers: &str) -> String {
        request(&format!("GET /api/queue/stream?scheduleId={ID}"), headers)
    }

    fn seat_stream(headers: &str) -> String {
        request(&format!("GET /api/schedules/{ID}/seats/stream"), headers)
    }

    #[test]
    fn plain_streams_are_read() {
        let id = ID.parse().unwrap();
        let seats = seat_stream("last-event-id: 7\r\naccept: text/event-stream\r\n");
        for (text, call, last) in [
            (queue_stream(""), Call::QueueStream(id), None),
            (seats, Call::SeatStream(id), Some("7")),
        ] {
            let Head::FastRequest { request, length } = read_request(text.as_bytes()) else {
                panic!("not a stream: {text}")
            };
            assert_eq!((length, request.client.last_event_id), (text.len(), last));
            assert_eq!(request.call, call);
        }
    }

    #[test]
    fn a_request_in_pieces_is_waited_for() {
        for text in [poll(""), enter("", &body()), select(""), queue_stream(""), seat_stream("")] {
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
            queue_stream("connection: close\r\n"),
            queue_stream("").replace("HTTP/1.1", "HTTP/1.0"),
            queue_stream("").replace("scheduleId=", "scheduleId=%30"),
            seat_stream("content-length: 1\r\n"),
            seat_stream("last-event-id: 1\r\nlast-event-id: 2\r\n"),
            seat_stream("").replace("/stream", "/stream?since=1"),
            seat_stream("").replace("/stream", "/streams"),
            seat_stream("").replace(ID, "7"),
            "PRI * HTTP/2.0\r\n".to_owned(),
            "PUT".to_owned(),
            "POST /api/wallet".to_owned(),
            select("").replace("seatIds", "seatIdz"),
            select("entry-token: a\r\nentry-token: b\r\n"),
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
