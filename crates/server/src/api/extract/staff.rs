//! Organisers who look at personal data or ask for a change leave an entry in the audit log, whatever
//! route it is: a new one is personal until it is named here.

use super::{App, ConnectInfo, Parts};
use crate::api::error::ApiError;
use axum::http::Method;
use domain::{Timestamp, UserId};
use serde_json::{Map, Value, json};
use std::net::SocketAddr;
use uuid::Uuid;

/// What is below these shows nobody.
const IMPERSONAL: [&str; 9] = [
    "/api/admin/events",
    "/api/admin/halls",
    "/api/admin/jobs",
    "/api/admin/layouts",
    "/api/admin/reconciliation",
    "/api/admin/schedules",
    "/api/admin/simulation",
    "/api/admin/venues",
    "/api/admin/verify",
];

/// Changes nothing, and is asked again and again while somebody draws.
const PREVIEW: &str = "/api/admin/layouts/preview";

/// Except for this.
const PLACES: &str = "/queue/history";

pub(super) fn is_noted(method: &Method, path: &str) -> bool {
    match method.is_safe() {
        true => is_personal(path),
        false => path != PREVIEW,
    }
}

fn is_personal(path: &str) -> bool {
    let is_below = |start: &&str| {
        path.strip_prefix(*start).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    path.ends_with(PLACES) || !IMPERSONAL.iter().any(is_below)
}

/// What a log-in of this morning is not enough for: calls that move money or give power.
const WEIGHTY: [(&Method, &str, &str); 6] = [
    (&Method::POST, "/api/admin/payments", "refund"),
    (&Method::POST, "/api/admin/payments", "resolve"),
    (&Method::POST, "/api/admin/users", "wallet"),
    (&Method::PUT, "/api/admin/users", "role"),
    (&Method::POST, "/api/admin/events", "cancel"),
    (&Method::POST, "/api/admin/schedules", "cancel"),
];

/// The same goes for files, which carry many people away.
pub(super) fn needs_proof(method: &Method, path: &str, query: Option<&str>) -> bool {
    let is_file = || query.unwrap_or_default().split('&').any(|it| it == "format=csv");
    let is_weighty = |(weighty, start, end): &(&Method, &str, &str)| {
        let id = path.strip_prefix(start).and_then(|rest| rest.strip_suffix(end));
        *weighty == method && id.is_some_and(|it| it.starts_with('/') && it.ends_with('/'))
    };
    WEIGHTY.iter().any(is_weighty) || is_file()
}

/// Who, when, from where, whose, what.
pub(super) async fn note_call(parts: &Parts, app: &App, actor: UserId) -> Result<(), ApiError> {
    let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>();
    let ip = peer.map(|ConnectInfo(peer)| peer.ip().to_canonical().to_string());
    let details = json!({ "ip": ip, "query": without_names(parts.uri.query()) });
    let path = parts.uri.path();
    let (action, subject) = match parts.method.is_safe() {
        true => ("read", path.to_owned()),
        false => ("call", format!("{} {path}", parts.method)),
    };
    Ok(app::audit::note_call(&app.platform, actor, action, subject, details).await?)
}

/// What was searched for, without the names, addresses and numbers of people: the log must not
/// become a place where those are found.
fn without_names(query: Option<&str>) -> Value {
    let pairs: Vec<(String, String)> =
        serde_urlencoded::from_str(query.unwrap_or_default()).unwrap_or_default();
    let shown = pairs.into_iter().map(|(name, value)| {
        let value = if is_nobody(&name, &value) { value } else { "***".to_owned() };
        (name.chars().take(40).collect(), Value::String(value))
    });
    Value::Object(shown.collect::<Map<_, _>>())
}

/// Ids, dates, states and small numbers tell nothing about a person by themselves. A reason is
/// given to be kept.
fn is_nobody(name: &str, value: &str) -> bool {
    let is_state =
        || value.len() <= 30 && value.bytes().all(|it| it.is_ascii_uppercase() || it == b'_');
    let is_small = || value.len() <= 4 && value.bytes().all(|it| it.is_ascii_digit());
    let is_reason = name == "reason" && value.len() <= 200;
    is_reason
        || is_state()
        || is_small()
        || value == "csv"
        || value.parse::<Uuid>().is_ok()
        || value.parse::<Timestamp>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_to_be_impersonal_is_personal() {
        for path in ["/api/admin/users", "/api/admin/audit", "/api/admin/x/queue/history"] {
            assert!(is_personal(path), "{path}");
        }
        assert!(is_personal("/api/admin/schedules/1/queue/history"));
        assert!(is_personal("/api/admin/eventsource"));
        assert!(!is_personal("/api/admin/events"));
        assert!(!is_personal("/api/admin/schedules/1/live/stream"));
    }

    #[test]
    fn money_roles_and_files_need_a_proof() {
        for (method, path, query) in [
            (Method::POST, "/api/admin/payments/1/refund", None),
            (Method::POST, "/api/admin/payments/1/resolve", None),
            (Method::POST, "/api/admin/payments/1/refunds/2/resolve", None),
            (Method::PUT, "/api/admin/users/1/role", None),
            (Method::POST, "/api/admin/schedules/1/cancel", None),
            (Method::GET, "/api/admin/users", Some("limit=5&format=csv")),
        ] {
            assert!(needs_proof(&method, path, query), "{method} {path}");
        }
        for (method, path) in [
            (Method::GET, "/api/admin/payments/1/refund"),
            (Method::POST, "/api/admin/schedules/1/open"),
            (Method::PUT, "/api/admin/schedules/1/queue"),
            (Method::GET, "/api/admin/users"),
        ] {
            assert!(!needs_proof(&method, path, Some("format=json")), "{method} {path}");
        }
    }

    #[test]
    fn what_was_searched_for_is_kept_without_people() {
        let query = "query=kim%40podo.kr&phone=01012345678&status=PAID&limit=20&reason=a+court&\
                     userId=0190a000-0000-7000-8000-000000000000&from=2026-11-16T00:00:00Z&name=LEE kim";
        let shown = without_names(Some(query));
        assert_eq!(shown["query"], "***");
        assert_eq!(shown["phone"], "***");
        assert_eq!(shown["name"], "***");
        assert_eq!(shown["status"], "PAID");
        assert_eq!(shown["limit"], "20");
        assert_eq!(shown["reason"], "a court");
        assert_eq!(shown["from"], "2026-11-16T00:00:00Z");
        assert_eq!(shown["userId"], "0190a000-0000-7000-8000-000000000000");
        assert_eq!(without_names(None), json!({}));
    }
}
