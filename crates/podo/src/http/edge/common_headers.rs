//! The headers of every response on both paths: one table, as values for hyper and as text for the
//! fast path.

use axum::http::{HeaderMap, HeaderName, HeaderValue};

/// Security headers. A handler may override them.
const SAFE: [(&str, &str); 5] = [
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("x-frame-options", "DENY"),
    (
        "content-security-policy",
        "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; \
         form-action 'self'",
    ),
    ("cache-control", "no-store"),
];

/// HSTS, if fans reach us by https.
const STRICT: (&str, &str) = ("strict-transport-security", "max-age=31536000; includeSubDomains");

const POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
const LEFT: HeaderName = HeaderName::from_static("ratelimit");

pub(crate) struct CommonHeaders {
    values: Vec<(HeaderName, HeaderValue)>,
    /// The same as names and header lines.
    lines: Vec<(&'static str, String)>,
    /// The address's requests per second, as `RateLimit-Policy`.
    policy: String,
}

impl CommonHeaders {
    pub(crate) fn new(is_encrypted: bool, requests_per_second: u32) -> CommonHeaders {
        let table = SAFE.into_iter().chain(is_encrypted.then_some(STRICT));
        let (mut lines, mut values) = (Vec::new(), Vec::new());
        for (name, value) in table {
            lines.push((name, format!("{name}: {value}\r\n")));
            values.push((HeaderName::from_static(name), HeaderValue::from_static(value)));
        }
        let policy = format!("\"address\";q={requests_per_second};w=1");
        CommonHeaders { values, lines, policy }
    }

    /// Adds the headers, and what remains of the address's rate limit if it is counted.
    pub(crate) fn add_to(&self, headers: &mut HeaderMap, n_left: Option<u32>) {
        headers.reserve(self.values.len());
        for (name, value) in &self.values {
            headers.entry(name).or_insert_with(|| value.clone());
        }
        if let Some(n_left) = n_left {
            for (name, text) in [(POLICY, self.policy.clone()), (LEFT, left(n_left))] {
                headers.extend(HeaderValue::try_from(text).ok().map(|value| (name, value)));
            }
        }
    }

    /// Writes a response's own headers and the same common ones as text.
    pub(crate) fn write_to(&self, head: &mut Vec<u8>, own: &[(&str, &str)], n_left: Option<u32>) {
        for (name, value) in own {
            write_line(head, name, value);
        }
        for (name, line) in &self.lines {
            if !own.iter().any(|(given, _)| given == name) {
                head.extend_from_slice(line.as_bytes());
            }
        }
        if let Some(n_left) = n_left {
            write_line(head, POLICY.as_str(), &self.policy);
            write_line(head, LEFT.as_str(), &left(n_left));
        }
    }
}

fn write_line(head: &mut Vec<u8>, name: &str, value: &str) {
    for part in [name, ": ", value, "\r\n"] {
        head.extend_from_slice(part.as_bytes());
    }
}

fn left(n_left: u32) -> String {
    format!("\"address\";r={n_left};t=1")
}
