//! Checks every invariant, raises an alert, and stops the sale of a date whose seats or money are
//! wrong. Other dates continue to sell.

use crate::context::AppContext;
use crate::error::{Error, Result};
use crate::operations::jobs::Round;
use crate::operations::port::invariants::{Finding, Report};
use crate::operations::verification::check;
use podo_domain::Timestamp;

/// A broken invariant counts as failed, so that the usual alerts fire too.
pub async fn verify_invariants(context: &AppContext, now: Timestamp) -> Result<Round> {
    let findings = check(context, now).await?;
    let mut round = Round::default();
    for finding in &findings {
        if finding.n_broken == 0 {
            round.done += 1;
            continue;
        }
        round.failed += 1;
        let (id, n_broken, examples) = (finding.id, finding.n_broken, &finding.examples);
        tracing::error!(id, n_broken, ?examples, "Invariant broken; see `podo verify`");
        stop_sales(context, finding, now).await?;
    }
    let report = Report {
        started_at: now,
        finished_at: context.now(),
        n_broken: round.failed,
        findings: serde_json::to_string(&findings).map_err(Error::broken)?,
    };
    context.store.keep_report(report).await?;
    Ok(round)
}

async fn stop_sales(context: &AppContext, finding: &Finding, now: Timestamp) -> Result<()> {
    for schedule in &finding.stops {
        let why = format!("{}: {}", finding.id, finding.rule);
        if context.store.stop_sale(*schedule, why, now).await? {
            tracing::error!(schedule.id = %schedule, id = finding.id,
                "Stopped the sale of a date until an organiser resumes it");
        }
    }
    Ok(())
}
