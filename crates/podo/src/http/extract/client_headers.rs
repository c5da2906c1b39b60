//! The headers that handlers of both transports read: hyper's map and the fast path's parser
//! produce the same value.

use crate::http::extract::text_of;
use crate::http::language::Language;
use crate::http::respond::cookies;
use axum::http::{HeaderMap, header};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ClientHeaders<'r> {
    pub(crate) access_token: Option<&'r str>,
    pub(crate) place_token: Option<&'r str>,
    pub(crate) entry_token: Option<&'r str>,
    pub(crate) idempotency_key: Option<&'r str>,
    /// The solution of a proof of work.
    pub(crate) challenge_answer: Option<&'r str>,
    pub(crate) last_event_id: Option<&'r str>,
    pub(crate) accept_language: Option<&'r str>,
}

impl<'r> ClientHeaders<'r> {
    pub(crate) fn of(headers: &'r HeaderMap) -> ClientHeaders<'r> {
        let text = |name: &str| text_of(headers, name);
        ClientHeaders {
            access_token: access_token(headers),
            place_token: text("queue-token"),
            entry_token: text("entry-token"),
            idempotency_key: text("idempotency-key"),
            challenge_answer: text("challenge-answer"),
            last_event_id: text("last-event-id"),
            accept_language: text("accept-language"),
        }
    }

    pub(crate) fn language(&self) -> Language {
        Language::wished(self.accept_language)
    }
}

/// The access token of a request on hyper, which may have its cookies in several lines.
pub(crate) fn access_token(headers: &HeaderMap) -> Option<&str> {
    let cookies = headers.get_all(header::COOKIE).into_iter().filter_map(|it| it.to_str().ok());
    access_token_in(text_of(headers, "authorization"), cookies)
}

/// The access token: from the `Authorization` header of a program or the cookie of a browser.
pub(crate) fn access_token_in<'r>(
    authorization: Option<&'r str>,
    mut cookies: impl Iterator<Item = &'r str>,
) -> Option<&'r str> {
    match authorization {
        Some(given) => bearer(given),
        None => cookies.find_map(|text| cookies::find_in(text, cookies::ACCESS)),
    }
}

/// The token in an `Authorization` header.
fn bearer(given: &str) -> Option<&str> {
    let (scheme, token) = given.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_believed_before_a_cookie() {
        let cookie = format!("a=1; {}=2", cookies::ACCESS);
        let found = |authorization| access_token_in(authorization, [cookie.as_str()].into_iter());
        assert_eq!(found(None), Some("2"));
        assert_eq!(found(Some("bEARER  3 ")), Some("3"));
        assert_eq!(found(Some("Basic 3")), None, "another scheme is no access token");
    }
}
