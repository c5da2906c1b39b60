//! Who looks without scripts: the browser's cookies say it. No page changes anything but the line.

use crate::api::{App, cookies};
use app::accounts::{LoggedIn, authenticate};
use app::sessions::Caller;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{AppendHeaders, IntoResponse, Response};
use domain::accounts::ACCESS_TOKEN_LENGTH;

/// Who is logged in; nobody when the session is over.
pub(super) async fn caller(app: &App, headers: &HeaderMap) -> Option<Caller> {
    let token = cookies::find(headers, cookies::ACCESS)?;
    authenticate(&app.platform, token, app.platform.now()).await.ok()
}

/// Logged in: on to where they were going, within these pages.
pub(super) fn begin(logged_in: &LoggedIn, next: &str) -> Response {
    let is_ours = next.starts_with('/') && !next.starts_with("//") && !next.contains('\\');
    let next = if is_ours { next } else { "/tickets" };
    let mut response =
        (StatusCode::SEE_OTHER, AppendHeaders(cookies::of_session(logged_in))).into_response();
    if let Ok(address) = HeaderValue::try_from(next) {
        response.headers_mut().insert(header::LOCATION, address);
    }
    response
}

/// Whoever waits for an hour stays logged in for it, unless the session was ended. Not so an organiser,
/// who has to do something.
pub(super) fn renew(
    app: &App,
    caller: Caller,
    page: impl IntoResponse,
) -> (AppendHeaders<Option<(HeaderName, String)>>, Response) {
    let now = app.platform.now();
    let renewed = (!caller.role.is_organiser()).then(|| {
        let token = app.platform.sessions.issue(caller, app.platform.chance.id(now), now);
        cookies::of_access(&token, ACCESS_TOKEN_LENGTH.as_secs())
    });
    (AppendHeaders(renewed), page.into_response())
}
