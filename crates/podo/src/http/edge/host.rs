//! A request must name exactly one host: two hosts allow attacks on proxies and servers that
//! disagree on which one counts.

use axum::http::{Request, Version, header};

pub(crate) fn is_one<B>(request: &Request<B>) -> bool {
    let mut hosts = request.headers().get_all(header::HOST).iter();
    let authority = request.uri().authority().map(|authority| authority.as_str().as_bytes());
    match (hosts.next(), hosts.next()) {
        (Some(_), Some(_)) => false,
        (Some(host), None) if request.version() == Version::HTTP_2 => {
            authority.is_none_or(|authority| authority == host.as_bytes())
        }
        (Some(host), None) => !host.is_empty(),
        // HTTP/1.0 has no such header, and HTTP/2 calls it `:authority`.
        (None, _) => request.version() != Version::HTTP_11,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_fine(version: Version, uri: &str, hosts: &[&str]) -> bool {
        let mut request = Request::builder().version(version).uri(uri);
        for host in hosts {
            request = request.header("host", *host);
        }
        is_one(&request.body(()).unwrap())
    }

    #[test]
    fn there_is_exactly_one_host() {
        assert!(is_fine(Version::HTTP_11, "/", &["podo.kr"]));
        assert!(!is_fine(Version::HTTP_11, "/", &[]));
        assert!(!is_fine(Version::HTTP_11, "/", &[""]));
        assert!(!is_fine(Version::HTTP_11, "/", &["podo.kr", "podo.kr"]));
        assert!(is_fine(Version::HTTP_10, "/", &[]));
        assert!(!is_fine(Version::HTTP_10, "/", &["a", "b"]));
    }

    #[test]
    fn in_http2_both_names_agree() {
        assert!(is_fine(Version::HTTP_2, "http://podo.kr/", &[]));
        assert!(is_fine(Version::HTTP_2, "http://podo.kr/", &["podo.kr"]));
        assert!(!is_fine(Version::HTTP_2, "http://podo.kr/", &["evil.example"]));
    }
}
