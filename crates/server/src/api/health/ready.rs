//! Is this node ready for traffic, and what does that hang on? `?verbose` lists every check.
//!
//! Only the store and the end of the process decide. Without the live engine polls are still answered
//! and payments still taken; if its loss made all nodes unready at once, nothing would be.

use crate::api::App;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use domain::SessionId;
use std::time::Duration;
use uuid::Uuid;

/// A check that takes longer has failed.
const ANSWER_WITHIN: Duration = Duration::from_secs(2);

struct Check {
    name: &'static str,
    /// What is wrong, or what there is to know.
    outcome: Result<String, String>,
    /// Whether the node is ready without it.
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

/// Ready for traffic: the store answers, and the process is not on its way out.
pub(in crate::api) async fn readyz(
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
    let outcome = within(app.platform.store.backlog()).await.map(|_| "answers".to_owned());
    let outcome = outcome.map_err(|error| {
        tracing::warn!(error, "Not ready: the store does not answer");
        "the store does not answer".to_owned()
    });
    Check { name: "store", outcome, is_needed: true }
}

/// What differs is corrected, so it does not make the node unready; it is worth knowing.
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
    let nobody = SessionId::new(Uuid::nil());
    let asked = within(app.platform.revocations.is_revoked(nobody, app.platform.now())).await;
    let outcome = asked.map(|_| "answers".to_owned());
    let outcome =
        outcome.map_err(|_error| "does not answer: nobody new gets in, no seat is held".to_owned());
    Check { name: "live engine", outcome, is_needed: false }
}

/// The bus is seen by what waits for it.
async fn bus(app: &App) -> Check {
    let outcome = within(app.platform.store.backlog()).await.map(|backlog| {
        let now = app.platform.now();
        let age_ms = backlog.oldest_pending_at.map_or(0, |at| now.ms() - at.ms()).max(0);
        format!("{} messages wait, the oldest for {} s", backlog.pending, age_ms / 1_000)
    });
    let outcome = outcome.map_err(|_error| "not known: the store does not answer".to_owned());
    Check { name: "messages", outcome, is_needed: false }
}

async fn within<T>(asked: impl Future<Output = app::Result<T>>) -> Result<T, String> {
    let answer = tokio::time::timeout(ANSWER_WITHIN, asked).await;
    answer.map_err(|_elapsed| "no answer in time".to_owned())?.map_err(|error| error.to_string())
}
