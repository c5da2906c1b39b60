//! Who looks without scripts: an access token in a cookie, for these pages only. No page changes
//! anything but the line, and a browser sends the cookie from nowhere else.

use crate::api::App;
use app::accounts::authenticate;
use app::sessions::Caller;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use domain::accounts::ACCESS_TOKEN_LENGTH;

const COOKIE: &str = "podo_page";

/// Who is logged in; nobody when the session is over.
pub(super) async fn caller(app: &App, headers: &HeaderMap) -> Option<Caller> {
    let cookies = headers.get(header::COOKIE)?.to_str().ok()?;
    let find = |pair: &str| pair.trim().strip_prefix(COOKIE)?.strip_prefix('=').map(str::to_owned);
    let token = cookies.split(';').find_map(find)?;
    authenticate(&app.platform, &token, app.platform.now()).await.ok()
}

/// Logged in: on to where they were going, within these pages.
pub(super) fn begin(access_token: &str, next: &str) -> Response {
    let is_ours = next.starts_with('/') && !next.starts_with("//") && !next.contains('\\');
    let next = if is_ours { next } else { "/tickets" };
    let mut response = StatusCode::SEE_OTHER.into_response();
    if let Ok(address) = HeaderValue::try_from(next) {
        response.headers_mut().insert(header::LOCATION, address);
    }
    keep(response, access_token)
}

/// Whoever waits for an hour stays logged in for it, unless the session was ended.
pub(super) fn renew(app: &App, caller: Caller, response: Response) -> Response {
    let now = app.platform.now();
    let token = app.platform.sessions.issue(caller, app.platform.chance.id(now), now);
    keep(response, &token)
}

fn keep(mut response: Response, access_token: &str) -> Response {
    let seconds = ACCESS_TOKEN_LENGTH.as_secs();
    let cookie =
        format!("{COOKIE}={access_token}; Path=/; HttpOnly; SameSite=Strict; Max-Age={seconds}");
    if let Ok(cookie) = HeaderValue::try_from(cookie) {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    response
}
