//! Sessions without JavaScript, from the browser's cookies.

use crate::http::respond::cookies;
use crate::routes::App;
use crate::routes::no_js::next::Next;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{AppendHeaders, IntoResponse, Response};
use podo_app::identity::accounts::{LoggedIn, authenticate_until, refresh};
use podo_app::identity::sessions::Caller;
use std::time::Duration;

/// A page renews a token that expires within this time.
const RENEW_BEFORE: Duration = Duration::from_secs(30 * 60);

/// A logged-in visitor.
pub(crate) struct Visitor {
    pub(crate) caller: Caller,
    renewed: Option<LoggedIn>,
}

/// The visitor, or `None` if the token has expired. Fans who wait for hours stay logged in: the
/// page exchanges their refresh token for the next pair, as the API does, so a visitor without a
/// refresh token gets no new one. Organisers must be active to stay logged in, so pages don't renew
/// theirs.
pub(crate) async fn visitor(app: &App, headers: &HeaderMap) -> Option<Visitor> {
    let now = app.context.now();
    let token = cookies::find(headers, cookies::ACCESS)?;
    let (caller, ends_at) = authenticate_until(&app.context, token, now).await.ok()?;
    let is_due = ends_at < now.plus(RENEW_BEFORE) && !caller.role.is_organiser();
    let spent = cookies::find(headers, cookies::REFRESH).filter(|_| is_due);
    let renewed = match spent {
        // If another tab has just spent the refresh token, the current access token is still valid.
        Some(spent) => refresh(&app.context, spent).await.ok(),
        None => None,
    };
    let renewed = renewed.filter(|it| it.user.id == caller.user);
    Some(Visitor { caller, renewed })
}

impl Visitor {
    /// Adds the renewed cookies to the page.
    pub(crate) fn keep(&self, page: impl IntoResponse) -> Response {
        let cookies = self.renewed.as_ref().map(cookies::of_session).unwrap_or_default();
        (AppendHeaders(cookies), page).into_response()
    }
}

/// Logs in, and redirects to where the visitor was going.
pub(crate) fn begin(logged_in: &LoggedIn, next: &Next) -> Response {
    let mut response =
        (StatusCode::SEE_OTHER, AppendHeaders(cookies::of_session(logged_in))).into_response();
    if let Ok(address) = HeaderValue::try_from(next.or("/tickets")) {
        response.headers_mut().insert(header::LOCATION, address);
    }
    response
}
