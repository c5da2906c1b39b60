//! Cross-site request forgery: another site's page must not change anything with a visitor's
//! cookies.

use crate::http::extract::text_of;
use axum::http::{HeaderMap, Request, header};

/// Paths that other sites redirect browsers or send webhooks to. These handlers trust no cookie.
const OPEN_TO_ALL: [&str; 2] = ["/api/payment/return/", "/api/payment/webhooks/"];

/// What a browser says about the page. Programs send neither of the first two headers, which
/// browsers always send, and they have no cookies that a page could misuse.
pub(crate) struct Page<'r> {
    pub(crate) origin: Option<&'r str>,
    pub(crate) fetch_site: Option<&'r str>,
    /// The host of the request.
    pub(crate) host: Option<&'r str>,
}

/// `home` is the public URL, if it is known.
pub(crate) fn is_ours<B>(request: &Request<B>, home: &str) -> bool {
    let path = request.uri().path();
    if request.method().is_safe() || OPEN_TO_ALL.iter().any(|start| path.starts_with(start)) {
        return true;
    }
    let headers = request.headers();
    let page = Page {
        origin: text_of(headers, "origin"),
        fetch_site: text_of(headers, "sec-fetch-site"),
        host: host_asked(request, headers),
    };
    may_act(&page, home)
}

/// Whether the page or program may change something.
pub(crate) fn may_act(page: &Page<'_>, home: &str) -> bool {
    if page.origin.is_some() && page.origin == Some(home) {
        return true;
    }
    match (page.fetch_site, page.origin) {
        (Some("same-origin" | "none"), _) | (None, None) => true,
        (Some(_), _) => false,
        (None, Some(origin)) => host_of(origin) == page.host,
    }
}

/// `podo.kr:8080` of `https://podo.kr:8080`.
fn host_of(origin: &str) -> Option<&str> {
    origin.split_once("://").map(|(_, host)| host)
}

fn host_asked<'r, B>(request: &'r Request<B>, headers: &'r HeaderMap) -> Option<&'r str> {
    let in_http2 = request.uri().authority().map(|authority| authority.as_str());
    in_http2.or_else(|| text_of(headers, header::HOST.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::Method;

    fn asks(method: Method, path: &str, headers: &[(&str, &str)]) -> bool {
        let mut request = Request::builder().method(method).uri(path).header("host", "podo.kr");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        is_ours(&request.body(()).unwrap(), "https://tickets.podo.kr")
    }

    #[test]
    fn pages_of_ours_and_programs_may_change_something() {
        let posts = |headers: &[(&str, &str)]| asks(Method::POST, "/api/wallet/charge", headers);
        assert!(posts(&[]));
        assert!(posts(&[("origin", "https://podo.kr")]));
        assert!(posts(&[("origin", "https://podo.kr"), ("sec-fetch-site", "same-origin")]));
        assert!(posts(&[("origin", "https://tickets.podo.kr"), ("sec-fetch-site", "same-site")]));
    }

    #[test]
    fn pages_of_others_may_only_look() {
        let evil = [("origin", "https://evil.example")];
        assert!(!asks(Method::POST, "/api/wallet/charge", &evil));
        assert!(!asks(Method::DELETE, "/api/queue/leave", &[("origin", "null")]));
        assert!(!asks(Method::POST, "/api/auth/login", &[("sec-fetch-site", "cross-site")]));
        assert!(!asks(Method::POST, "/api/auth/login", &[("sec-fetch-site", "same-site")]));
        assert!(!asks(Method::PUT, "/api/x", &[("origin", "https://podo.kr.evil.example")]));
        assert!(asks(Method::GET, "/api/wallet", &evil));
        assert!(asks(Method::POST, "/api/payment/return/inicis", &evil));
        assert!(asks(Method::POST, "/api/payment/webhooks/toss", &evil));
        assert!(!asks(Method::POST, "/api/payment/return", &evil));
    }
}
