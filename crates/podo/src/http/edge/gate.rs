//! The calls of a gate. Stewards scan several times a second, and all gates of a hall share one
//! address, so these calls have budgets of their own.

use crate::http::extract::access_token;
use crate::routes::AppState;
use axum::http::HeaderMap;
use podo_app::operations::throttling::limits::Quota;
use podo_domain::Timestamp;

/// Whether a path, or its template, is a call of the gate.
pub(crate) fn is_gate(path: &str) -> bool {
    let Some(rest) = path.strip_prefix("/api/admin/") else { return false };
    if matches!(rest, "checkin" | "checkin/undo" | "gate/shows") {
        return true;
    }
    let of_schedule = rest.strip_prefix("schedules/").and_then(|rest| rest.split_once('/'));
    matches!(of_schedule, Some((_, "gate-list" | "scans" | "attendance" | "gates")))
}

/// Whether an organiser makes this call. The token's signature proves it without the store; whether
/// the session has ended is checked later. Other callers share the ordinary budget of their
/// address, so a stranger gains nothing by calling these paths.
pub(crate) fn is_stewards(
    state: &AppState,
    path: &str,
    headers: &HeaderMap,
    now: Timestamp,
) -> bool {
    let check = |token| state.context.identity.sessions.check(token, now);
    is_gate(path)
        && access_token(headers).and_then(check).is_some_and(|caller| caller.role.is_organiser())
}

/// What one user may call of a route, given by its template.
pub(crate) fn quota_of_user(state: &AppState, template: &str) -> Quota {
    Quota::per_minute(match is_gate(template) {
        true => state.gate_requests_per_minute_per_user,
        false => state.requests_per_minute_per_user,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_calls_of_a_gate_are_known_by_path_and_by_template() {
        for path in [
            "/api/admin/checkin",
            "/api/admin/checkin/undo",
            "/api/admin/gate/shows",
            "/api/admin/schedules/{id}/gate-list",
            "/api/admin/schedules/0190a000-0000-7000-8000-000000000000/scans",
            "/api/admin/schedules/7/attendance",
            "/api/admin/schedules/7/gates",
        ] {
            assert!(is_gate(path), "{path}");
        }
        for path in [
            "/api/admin/checkins",
            "/api/admin/schedules/7/attendance.csv",
            "/api/admin/schedules/7/queue",
            "/api/admin/schedules/gates",
            "/api/admin/halls/7/gates",
            "/api/booking/checkin",
        ] {
            assert!(!is_gate(path), "{path}");
        }
    }
}
