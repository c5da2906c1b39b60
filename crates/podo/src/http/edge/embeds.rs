//! Pages of an organiser's own site: which origins may show our pages in a frame, and may call the API
//! from a browser. Their calls carry API keys; cookies never count there.

use crate::http::extract::text_of;
use anyhow::{Result, bail};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, header};
use axum::response::{IntoResponse, Response};

/// Pages that are made for frames.
const FRAMED: &str = "/embed/events/";

const METHODS: HeaderValue = HeaderValue::from_static("GET, POST, PUT, PATCH, DELETE");
const ASKED: HeaderValue =
    HeaderValue::from_static("authorization, content-type, idempotency-key, accept-language");
const SHOWN: HeaderValue =
    HeaderValue::from_static("ratelimit, ratelimit-policy, retry-after, idempotency-replayed");

/// How long a browser remembers a preflight.
const REMEMBERED_S: HeaderValue = HeaderValue::from_static("600");

/// The origins of `embed_origins`.
#[derive(Clone, Debug, Default)]
pub struct EmbedOrigins(Vec<String>);

impl EmbedOrigins {
    /// Every entry is an origin as browsers write it, such as `https://band.example`.
    pub fn parse(origins: &[String]) -> Result<EmbedOrigins> {
        for origin in origins {
            let host = origin.strip_prefix("https://").or(origin.strip_prefix("http://"));
            let is_host = |host: &str| {
                let letters = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit();
                !host.is_empty() && host.chars().all(|it| letters(it) || ".-:[]".contains(it))
            };
            if !host.is_some_and(is_host) {
                bail!("{origin}: expected an origin such as https://band.example, without a path");
            }
        }
        Ok(EmbedOrigins(origins.to_vec()))
    }

    fn allows(&self, origin: &str) -> bool {
        self.0.iter().any(|allowed| allowed == origin)
    }

    /// The allowed origin that a page's request comes from.
    fn origin_of<'r>(&self, path: &str, headers: &'r HeaderMap) -> Option<&'r str> {
        let origin = text_of(headers, "origin").filter(|_| path.starts_with("/api/"))?;
        self.allows(origin).then_some(origin)
    }

    /// Whether a call from an allowed page may change something: only with a token of its own.
    pub(crate) fn may_act<B>(&self, request: &Request<B>) -> bool {
        let headers = request.headers();
        self.origin_of(request.uri().path(), headers).is_some()
            && headers.contains_key(header::AUTHORIZATION)
            && !headers.contains_key(header::COOKIE)
    }

    /// The answer to a browser that asks whether it may send a call.
    pub(crate) fn preflight<B>(&self, request: &Request<B>) -> Option<Response> {
        let headers = request.headers();
        let is_preflight = request.method() == Method::OPTIONS
            && headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
        self.origin_of(request.uri().path(), headers).filter(|_| is_preflight)?;
        let allowed = [
            (header::ACCESS_CONTROL_ALLOW_METHODS, METHODS),
            (header::ACCESS_CONTROL_ALLOW_HEADERS, ASKED),
            (header::ACCESS_CONTROL_MAX_AGE, REMEMBERED_S),
        ];
        Some((StatusCode::NO_CONTENT, allowed).into_response())
    }

    /// What a response to this request says about other sites.
    pub(crate) fn headers_for<B>(&self, request: &Request<B>) -> Extra {
        let path = request.uri().path();
        if path.starts_with(FRAMED) && !self.0.is_empty() {
            return Extra::Framed(self.0.join(" "));
        }
        let origin = self.origin_of(path, request.headers());
        let origin = origin.and_then(|origin| HeaderValue::from_str(origin).ok());
        match origin {
            Some(origin) => Extra::Read(origin),
            // Caches must not give the answer for one origin to another.
            None if path.starts_with("/api/") && !self.0.is_empty() => Extra::Varies,
            None => Extra::Nothing,
        }
    }
}

pub(crate) enum Extra {
    Nothing,
    Varies,
    Read(HeaderValue),
    Framed(String),
}

impl Extra {
    pub(crate) fn add_to(self, headers: &mut HeaderMap) {
        const VARY: (HeaderName, HeaderValue) = (header::VARY, HeaderValue::from_static("origin"));
        match self {
            Extra::Nothing => {}
            Extra::Varies => drop(headers.append(VARY.0, VARY.1)),
            Extra::Read(origin) => {
                headers.append(VARY.0, VARY.1);
                headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
                headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, SHOWN);
            }
            Extra::Framed(origins) => {
                // It knows no list of origins; the policy says the same and more.
                headers.remove(header::X_FRAME_OPTIONS);
                let policy = format!(
                    "default-src 'self'; img-src 'self' https: data:; base-uri 'none'; \
                     form-action 'none'; frame-ancestors {origins}"
                );
                if let Ok(policy) = HeaderValue::try_from(policy) {
                    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origins() -> EmbedOrigins {
        EmbedOrigins::parse(&["https://band.example".to_owned()]).unwrap()
    }

    fn request(method: Method, path: &str, headers: &[(&str, &str)]) -> Request<()> {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(()).unwrap()
    }

    fn written(request: &Request<()>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
        origins().headers_for(request).add_to(&mut headers);
        headers
    }

    #[test]
    fn only_origins_are_accepted() {
        let parse = |origin: &str| EmbedOrigins::parse(&[origin.to_owned()]).is_ok();
        assert!(parse("https://band.example") && parse("http://localhost:8000"));
        for wrong in ["*", "band.example", "https://band.example/", "https://*.example", "null"] {
            assert!(!parse(wrong), "{wrong}");
        }
    }

    #[test]
    fn a_listed_page_reads_and_acts_with_a_token_and_never_with_a_cookie() {
        let [ours, evil] = [("origin", "https://band.example"), ("origin", "https://evil.example")];
        let key = ("authorization", "Bearer key");
        let acts = |headers: &[(&str, &str)]| {
            origins().may_act(&request(Method::POST, "/api/admin/events", headers))
        };
        assert!(acts(&[ours, key]));
        assert!(!acts(&[evil, key]) && !acts(&[ours]) && !acts(&[ours, key, ("cookie", "a=b")]));
        let allowed = |headers: &[(&str, &str)]| {
            written(&request(Method::GET, "/api/events", headers))
                .contains_key("access-control-allow-origin")
        };
        assert!(allowed(&[ours]) && !allowed(&[evil]) && !allowed(&[]));
        assert!(!written(&request(Method::GET, "/", &[ours])).contains_key("vary"));
        let credentials = written(&request(Method::GET, "/api/events", &[ours]));
        assert!(!credentials.contains_key("access-control-allow-credentials"));
    }

    #[test]
    fn a_browser_that_asks_first_gets_an_answer_for_listed_pages() {
        let ask = ("access-control-request-method", "POST");
        let asked = |origin: &str| {
            let request = request(Method::OPTIONS, "/api/events", &[("origin", origin), ask]);
            origins().preflight(&request).is_some()
        };
        assert!(asked("https://band.example") && !asked("https://evil.example"));
    }

    #[test]
    fn only_the_embedded_page_may_be_framed_and_only_by_listed_pages() {
        let framed = written(&request(Method::GET, "/embed/events/1", &[]));
        let policy = framed["content-security-policy"].to_str().unwrap();
        assert!(policy.ends_with("frame-ancestors https://band.example"), "{policy}");
        assert!(!framed.contains_key("x-frame-options"));
        assert!(written(&request(Method::GET, "/admin", &[])).contains_key("x-frame-options"));
        let mut closed = HeaderMap::new();
        let page = request(Method::GET, "/embed/events/1", &[]);
        EmbedOrigins::default().headers_for(&page).add_to(&mut closed);
        assert!(closed.is_empty(), "no page may frame it until an origin is listed");
    }
}
