//! Who looks without scripts: the browser's cookies say it.

use super::next::Next;
use crate::api::{App, cookies};
use app::accounts::{LoggedIn, authenticate_until, refresh};
use app::sessions::Caller;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{AppendHeaders, IntoResponse, Response};
use std::time::Duration;

/// A token with less time than this left is renewed by the next page.
const RENEW_BEFORE: Duration = Duration::from_secs(30 * 60);

/// Somebody who is logged in and opens a page.
pub(super) struct Visitor {
    pub(super) caller: Caller,
    renewed: Option<LoggedIn>,
}

/// Who is logged in; nobody when the token is over. Fans who wait for hours stay logged in: the page
/// spends their refresh token for the next pair, as the API does, so a page renews nothing that has
/// only an access token. Organisers have to do something, so waiting renews nothing of theirs.
pub(super) async fn visitor(app: &App, headers: &HeaderMap) -> Option<Visitor> {
    let now = app.platform.now();
    let token = cookies::find(headers, cookies::ACCESS)?;
    let (caller, ends_at) = authenticate_until(&app.platform, token, now).await.ok()?;
    let is_due = ends_at < now.plus(RENEW_BEFORE) && !caller.role.is_organiser();
    let spent = cookies::find(headers, cookies::REFRESH).filter(|_| is_due);
    let renewed = match spent {
        // Another tab may have spent it a moment ago: the token that is there still counts.
        Some(spent) => refresh(&app.platform, spent).await.ok(),
        None => None,
    };
    let renewed = renewed.filter(|it| it.user.id == caller.user);
    Some(Visitor { caller, renewed })
}

impl Visitor {
    /// A page with the cookies that were renewed for it.
    pub(super) fn keep(&self, page: impl IntoResponse) -> Response {
        let cookies = self.renewed.as_ref().map(cookies::of_session).unwrap_or_default();
        (AppendHeaders(cookies), page).into_response()
    }
}

/// Logged in: on to where they were going, within these pages.
pub(super) fn begin(logged_in: &LoggedIn, next: &Next) -> Response {
    let mut response =
        (StatusCode::SEE_OTHER, AppendHeaders(cookies::of_session(logged_in))).into_response();
    if let Ok(address) = HeaderValue::try_from(next.or("/tickets")) {
        response.headers_mut().insert(header::LOCATION, address);
    }
    response
}
