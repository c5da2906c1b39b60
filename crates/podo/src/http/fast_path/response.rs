//! Writes responses of the fast path.

use crate::http::edge::FastResponse;
use crate::routes::Edge;
use std::io::Write;
use std::time::{Duration, UNIX_EPOCH};

/// The length is known last, so its digits are reserved.
const LENGTH: &str = "content-length: 00000\r\n\r\n";

/// Writes the head and the body; of a stream, the head alone.
pub(crate) fn write_response(to: &mut Vec<u8>, edge: &Edge, response: &FastResponse) {
    let status = response.status();
    let reason = status.canonical_reason().unwrap_or_default();
    let now = Duration::from_millis(edge.now().ms().try_into().unwrap_or(0));
    let date = httpdate::HttpDate::from(UNIX_EPOCH + now);
    let _ = write!(to, "HTTP/1.1 {} {reason}\r\n", status.as_str());
    edge.write_headers(to, response);
    to.extend_from_slice(b"x-request-id: ");
    to.extend_from_slice(response.id.as_bytes());
    if let Some(seconds) = response.retry_after() {
        let _ = write!(to, "\r\nretry-after: {seconds}");
    }
    let _ = write!(to, "\r\ndate: {date}\r\n");
    if response.is_stream() {
        to.extend_from_slice(b"transfer-encoding: chunked\r\n\r\n");
        return;
    }
    to.extend_from_slice(LENGTH.as_bytes());
    let body_starts = to.len();
    response.write_body(to);
    let n_bytes = to.len() - body_starts;
    let digits = &mut to[body_starts - 9..body_starts - 4];
    let _ = write!(&mut &mut digits[..], "{n_bytes:05}");
}
