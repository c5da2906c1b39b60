//! Readiness, and what it depends on. `?verbose` lists every check.
//!
//! Only the store and the shutdown decide. Without the live engine, the node still answers polls
//! and takes payments; if its loss made all nodes unready at once, nothing would work.

use crate::routes::App;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use podo_domain::SessionId;
use std::time::Duration;
use uuid::Uuid;

/// A slower check fails.
const ANSWER_WITHIN: Duration = Duration::from_secs(2);

struct Check {
    name: &'static str,
    /// The error, or details.
    outcome: Result<String, String>,
    /// Whether readiness depends on it.
    is_needed: bool,
}

impl Check {
    fn is_in_the_way(&self) -> bool {
        self.is_needed && self.outcome.is_err()
    }

    fn line(&self) -> String {
        let (mark, words) = match (&self.outcome, self.is_needed) {
            (Ok(words), _) => ("+", words),
            (Err(words), true) => ("-", words),
            (Err(words), false) => ("~", words),
        };
        format!("[{mark}] {}: {words}\n", self.name)
    }
}

/// Ready for traffic: the store responds, and the process is not shutting down.
pub(crate) async fn readyz(
    State(app): State<App>,
    RawQuery(query): RawQuery,
) -> (StatusCode, String) {
    let is_verbose = query.is_some_and(|it| it.split(['&', '=']).any(|word| word == "verbose"));
    let mut checks = vec![process(&app), store(&app).await];
    if is_verbose {
        checks.extend([clock(&app), live(&app).await, bus(&app).await]);
    }
    let wrong = checks.iter().find(|check| check.is_in_the_way());
    let status = if wrong.is_some() { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::OK };
    let last = wrong.and_then(|it| it.outcome.clone().err()).unwrap_or_else(|| "ok".to_owned());
    let lines = checks.iter().filter(|_| is_verbose).map(Check::line).collect::<String>();
    (status, lines + &last)
}

fn process(app: &App) -> Check {
    let outcome = match app.tasks.is_stopping() {
        true => Err("stopping".to_owned()),
        false => Ok(format!("running as {}", app.roles)),
    };
    Check { name: "process", outcome, is_needed: true }
}

async fn store(app: &App) -> Check {
    let outcome = within(app.context.store.backlog()).await.map(|_| "answers".to_owned());
    let outcome = outcome.map_err(|error| {
        tracing::warn!(error, "Not ready: the store does not answer");
        "the store does not answer".to_owned()
    });
    Check { name: "store", outcome, is_needed: true }
}

/// The clock is corrected, so an offset doesn't make the node unready; it is reported all the same.
fn clock(app: &App) -> Check {
    let outcome = match app.clock.offset() {
        None => "the store has no clock of its own".to_owned(),
        Some(offset) => format!(
            "{:+.3} s from the store's, corrected to within {:.3} s",
            -offset.ms as f64 / 1_000.0,
            offset.error_ms as f64 / 1_000.0
        ),
    };
    Check { name: "clock", outcome: Ok(outcome), is_needed: false }
}

async fn live(app: &App) -> Check {
    let no_session = SessionId::new(Uuid::nil());
    let asked =
        within(app.context.identity.revocations.is_revoked(no_session, app.context.now())).await;
    let outcome = asked.map(|_| "answers".to_owned());
    let outcome =
        outcome.map_err(|_error| "does not respond: no admissions, no new holds".to_owned());
    Check { name: "live engine", outcome, is_needed: false }
}

/// The bus is judged by the messages pending for it.
async fn bus(app: &App) -> Check {
    let outcome = within(app.context.store.backlog()).await.map(|backlog| {
        let now = app.context.now();
        let age_ms = backlog.oldest_pending_at.map_or(0, |at| now.ms() - at.ms()).max(0);
        format!("{} messages pending, the oldest for {} s", backlog.pending, age_ms / 1_000)
    });
    let outcome = outcome.map_err(|_error| "unknown: the store does not answer".to_owned());
    Check { name: "messages", outcome, is_needed: false }
}

async fn within<T>(asked: impl Future<Output = podo_app::Result<T>>) -> Result<T, String> {
    let answer = tokio::time::timeout(ANSWER_WITHIN, asked).await;
    answer.map_err(|_elapsed| "timed out".to_owned())?.map_err(|error| error.to_string())
}
