//! The audit log entry of an organiser's call.

use crate::http::extract::staff::{App, Credential, Member, Parts};
use crate::http::problem::ApiError;
use axum::extract::ConnectInfo;
use podo_domain::Timestamp;
use serde_json::{Map, Value, json};
use std::net::SocketAddr;
use uuid::Uuid;

/// Records the actor, the time, the origin, the subject and the action.
pub(crate) async fn note_call(parts: &Parts, app: &App, member: &Member) -> Result<(), ApiError> {
    let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>();
    let ip = peer.map(|ConnectInfo(peer)| peer.ip().to_canonical().to_string());
    let mut details = json!({ "ip": ip, "query": without_names(parts.uri.query()) });
    if let Credential::Key(name) = &member.credential {
        details["key"] = json!(name);
    }
    let path = parts.uri.path();
    let (action, subject) = match parts.method.is_safe() {
        true => ("read", path.to_owned()),
        false => ("call", format!("{} {path}", parts.method)),
    };
    let actor = member.actor;
    Ok(podo_app::operations::audit::note_call(&app.context, actor, action, subject, details)
        .await?)
}

/// The query without people's names, addresses and numbers: the audit log must not become another
/// source of personal data.
fn without_names(query: Option<&str>) -> Value {
    let pairs: Vec<(String, String)> =
        serde_urlencoded::from_str(query.unwrap_or_default()).unwrap_or_default();
    let shown = pairs.into_iter().map(|(name, value)| {
        let value = if is_anonymous(&name, &value) { value } else { "***".to_owned() };
        (name.chars().take(40).collect(), Value::String(value))
    });
    Value::Object(shown.collect::<Map<_, _>>())
}

/// Ids, dates, states and small numbers don't identify a person by themselves. A reason is meant to
/// be recorded.
fn is_anonymous(name: &str, value: &str) -> bool {
    let is_state =
        || value.len() <= 30 && value.bytes().all(|it| it.is_ascii_uppercase() || it == b'_');
    let is_small = || value.len() <= 4 && value.bytes().all(|it| it.is_ascii_digit());
    let is_reason = name == "reason" && value.len() <= 200;
    // What an organiser typed may be a name in capitals or the end of a number.
    let is_typed = name == "query";
    is_reason
        || (!is_typed && (is_state() || is_small()))
        || value == "csv"
        || value.parse::<Uuid>().is_ok()
        || value.parse::<Timestamp>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

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
        for typed in ["KIM", "1234"] {
            assert_eq!(without_names(Some(&format!("query={typed}")))["query"], "***", "{typed}");
        }
        assert_eq!(without_names(None), json!({}));
    }
}
