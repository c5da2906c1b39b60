//! Cookies of the browser pages. `__Host-` binds them to this host, and scripts cannot read them;
//! programs use the `Authorization` header instead.

use axum::Json;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{AppendHeaders, IntoResponse, Response};
use podo_app::identity::accounts::{DEVICE_KNOWN_FOR, LoggedIn};
use podo_domain::identity::REFRESH_TOKEN_LENGTH;

pub(crate) const ACCESS: &str = "__Host-podo_access";
pub(crate) const REFRESH: &str = "__Host-podo_refresh";
/// Identifies a device that has logged in, so that its login attempts are counted separately. It
/// survives a logout, and doesn't authenticate.
pub(crate) const DEVICE: &str = "__Host-podo_device";

/// A cookie and its lifetime. Browsers don't send `Strict` cookies when a user follows a link from
/// another site.
pub(crate) struct Cookie<'c> {
    pub(crate) name: &'c str,
    pub(crate) value: &'c str,
    pub(crate) same_site: &'c str,
    pub(crate) max_age_s: u64,
}

impl Cookie<'_> {
    pub(crate) fn text(&self) -> String {
        let Cookie { name, value, same_site, max_age_s } = self;
        format!(
            "{name}={value}; Path=/; Secure; HttpOnly; SameSite={same_site}; Max-Age={max_age_s}"
        )
    }
}

/// The headers that set a browser's session.
pub(crate) fn of_session(logged_in: &LoggedIn) -> Vec<(header::HeaderName, String)> {
    let refresh = Cookie {
        name: REFRESH,
        value: &logged_in.refresh_token,
        same_site: "Strict",
        max_age_s: REFRESH_TOKEN_LENGTH.as_secs(),
    };
    let access = Cookie {
        name: ACCESS,
        value: &logged_in.access_token,
        same_site: "Lax",
        max_age_s: logged_in.expires_in,
    };
    let device = logged_in.device.as_deref().map(|value| Cookie {
        name: DEVICE,
        value,
        same_site: "Strict",
        max_age_s: DEVICE_KNOWN_FOR.as_secs(),
    });
    let cookies = [Some(access), Some(refresh), device];
    cookies.into_iter().flatten().map(|it| (header::SET_COOKIE, it.text())).collect()
}

/// The session, in the body for programs and in cookies for browsers.
pub(crate) fn with_session(logged_in: LoggedIn) -> Response {
    (AppendHeaders(of_session(&logged_in)), Json(logged_in)).into_response()
}

/// An empty response that deletes the cookies.
pub(crate) fn without_session() -> Response {
    let gone = |name, same_site| {
        (header::SET_COOKIE, Cookie { name, value: "", same_site, max_age_s: 0 }.text())
    };
    let cookies = AppendHeaders([gone(ACCESS, "Lax"), gone(REFRESH, "Strict")]);
    (StatusCode::NO_CONTENT, cookies).into_response()
}

/// The cookie of this name. HTTP/2 may send cookies in several headers.
pub(crate) fn find<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let texts = headers.get_all(header::COOKIE).into_iter().filter_map(|it| it.to_str().ok());
    texts.into_iter().find_map(|text| find_in(text, name))
}

/// The cookie of this name in one header.
pub(crate) fn find_in<'h>(text: &'h str, name: &str) -> Option<&'h str> {
    let value = |pair: &'h str| pair.trim().strip_prefix(name)?.strip_prefix('=');
    text.split(';').find_map(value).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_found_by_its_whole_name() {
        let text = "a=1; __Host-podo_access_old=2;__Host-podo_access=3; b=4";
        assert_eq!(find_in(text, ACCESS), Some("3"));
        assert_eq!(find_in(text, REFRESH), None);
        assert_eq!(find_in("__Host-podo_access=", ACCESS), None);
        let mut headers = HeaderMap::new();
        headers.append(header::COOKIE, "a=1".parse().unwrap());
        headers.append(header::COOKIE, "__Host-podo_refresh=5".parse().unwrap());
        assert_eq!(find(&headers, REFRESH), Some("5"));
    }
}
