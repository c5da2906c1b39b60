//! Sends the same bytes to the fast path and to hyper, and compares the responses.

use crate::http::raw::{RawResponse, answers};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

pub(crate) const ORDINARY: &[u8] = b"GET /livez HTTP/1.1\r\nHost: podo\r\n\r\n";

/// Sends bytes, shuts down the sending side, and reads all responses.
pub(crate) fn exchange(address: SocketAddr, bytes: &[u8]) -> Vec<RawResponse> {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    // The server may close the connection early after a refusal, even while we send.
    let _ = stream.write_all(bytes);
    let _ = stream.shutdown(Shutdown::Write);
    let mut got = Vec::new();
    let _ = stream.read_to_end(&mut got);
    answers(&got)
}

pub(crate) fn both_ways(address: SocketAddr, bytes: &[u8]) -> (Vec<RawResponse>, Vec<RawResponse>) {
    let first = exchange(address, bytes);
    let mut ordinary = exchange(address, &[ORDINARY, bytes].concat());
    assert_eq!(ordinary.remove(0).status, 200);
    (first, ordinary)
}

/// Headers that differ in every response, or depend on the length of another part.
const OWN: [&str; 4] = ["date", "x-request-id", "content-length", "ratelimit"];

/// The same for bodies: times, estimates derived from them, and signatures.
const NEW_EACH_TIME: [&str; 7] =
    ["now", "pollAfterMs", "traceId", "token", "estimatedWait", "estimatedWaitRange", "chance"];

/// What must be equal.
pub(crate) fn seen(answer: &RawResponse) -> (u16, BTreeMap<String, String>, Value) {
    let mut headers = answer.headers.clone();
    for name in OWN {
        headers.entry(name.to_owned()).and_modify(|value| value.clear());
    }
    let mut body = serde_json::from_slice(&answer.body).unwrap_or(Value::Null);
    if let Some(body) = body.as_object_mut() {
        for name in NEW_EACH_TIME {
            body.remove(name);
        }
    }
    (answer.status, headers, body)
}

#[track_caller]
pub(crate) fn assert_same(address: SocketAddr, bytes: &[u8]) {
    let (first, ordinary) = both_ways(address, bytes);
    let [mut first, mut ordinary] = [first, ordinary]
        .map(|all| all.iter().filter(|it| !is_no_request(it)).map(seen).collect::<Vec<_>>());
    cut_after_refusal(&mut first, &mut ordinary);
    assert_eq!(first, ordinary, "fast path and hyper, for {:?}", String::from_utf8_lossy(bytes));
}

/// hyper's own response to bytes that are no request, before it closes the connection; for an
/// incomplete request after the first, it sends nothing.
fn is_no_request(answer: &RawResponse) -> bool {
    let is_last = answer.headers.get("connection").is_some_and(|value| value == "close");
    is_last && !answer.headers.contains_key("x-request-id")
}

/// hyper sends a refusal before it has read the body. Whether it then reads on or closes the
/// connection depends on how much has arrived by then, so one path may have one more response than
/// the other.
fn cut_after_refusal<T>(first: &mut Vec<(u16, T, Value)>, second: &mut Vec<(u16, T, Value)>) {
    let n_both = first.len().min(second.len());
    if n_both > 0 && first[n_both - 1].0 >= 400 {
        first.truncate(n_both);
        second.truncate(n_both);
    }
}

/// Headers that change a request's length, host or caller.
pub(crate) const HEADERS: [&str; 42] = [
    "Content-Length: 0\r\n",
    "Content-Length: 5\r\n",
    "Content-Length: +5\r\n",
    "Content-Length: 5, 5\r\n",
    "Content-Length: 0x5\r\n",
    "Content-Length:\r\n",
    "Content-Length: 18446744073709551616\r\n",
    "Content-Length : 5\r\n",
    "Transfer-Encoding: chunked\r\n",
    "Transfer-Encoding : chunked\r\n",
    "Transfer-Encoding: identity\r\n",
    "Transfer-Encoding: chunked, identity\r\n",
    "Transfer-Encoding:\tchunked\r\n",
    "Transfer-Encoding: xchunked\r\n",
    "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
    "X: y\r\n Transfer-Encoding: chunked\r\n",
    "X: y\nTransfer-Encoding: chunked\r\n",
    "X: y\rTransfer-Encoding: chunked\r\n",
    "X: \0\r\n",
    "X\r\n",
    ": y\r\n",
    "Host: other\r\n",
    "Host:\r\n",
    "hOST: podo\r\n",
    "Connection: close\r\n",
    "Connection: close, Host\r\n",
    "Connection: Keep-Alive\r\n",
    "Expect: 100-continue\r\n",
    "Expect: something\r\n",
    "Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAAA\r\n",
    "Authorization: Bearer nonsense\r\n",
    "Authorization: Basic eDp5\r\n",
    "Queue-Token: nonsense\r\n",
    "Idempotency-Key: other\r\n",
    "Origin: https://evil.example\r\n",
    "Sec-Fetch-Site: cross-site\r\n",
    "Accept-Language: en\r\n",
    "Accept-Language: en\r\nAccept-Language: ko\r\n",
    "Cookie: a=\u{fffd}\r\n",
    "X-Request-Id: mine\r\n",
    "Challenge-RawResponse: a.1\r\n",
    "Content-Type: text/plain\r\n",
];
