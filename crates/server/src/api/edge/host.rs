//! Which host a request is for. Two programs that read two hosts in one request can be played off
//! against each other, so there is exactly one.

use axum::http::{Request, Version, header};

pub(super) fn is_one<B>(request: &Request<B>) -> bool {
    let mut hosts = request.headers().get_all(header::HOST).iter();
    let authority = request.uri().authority().map(|authority| authority.as_str().as_bytes());
    match (hosts.next(), hosts.next()) {
        (Some(_), Some(_)) => false,
        (Some(host), None) if request.version() == Version::HTTP_2 => {
            authority.is_none_or(|authority| authority == host.as_bytes())
        }
        (Some(host), None) => !host.is_empty(),
        // Before HTTP/1.1 there was no such header, in HTTP/2 it has another name.
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
