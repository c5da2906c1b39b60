//! Asks for every promise, tells who watches, and stops the sale of a date whose seats or money are
//! wrong. Everybody else is sold to.

use super::Round;
use crate::error::{Error, Result};
use crate::platform::Platform;
use crate::ports::invariants::{Finding, Report};
use crate::verification::check;
use domain::Timestamp;

/// What does not hold counts as failed, so that the usual alerts see it too.
pub async fn verify_promises(platform: &Platform, now: Timestamp) -> Result<Round> {
    let findings = check(platform, now).await?;
    let mut round = Round::default();
    for finding in &findings {
        if finding.n_broken == 0 {
            round.done += 1;
            continue;
        }
        round.failed += 1;
        let (id, n_broken, examples) = (finding.id, finding.n_broken, &finding.examples);
        tracing::error!(id, n_broken, ?examples, "A promise is broken; see `podo verify`");
        stop_sales(platform, finding, now).await?;
    }
    let report = Report {
        started_at: now,
        finished_at: platform.now(),
        n_broken: round.failed,
        findings: serde_json::to_string(&findings).map_err(Error::broken)?,
    };
    platform.store.keep_report(report).await?;
    Ok(round)
}

async fn stop_sales(platform: &Platform, finding: &Finding, now: Timestamp) -> Result<()> {
    for schedule in &finding.stops {
        let why = format!("{}: {}", finding.id, finding.rule);
        if platform.store.stop_sale(*schedule, why, now).await? {
            tracing::error!(schedule.id = %schedule, id = finding.id,
                "The sale of a date is stopped until an organiser lets it go on");
        }
    }
    Ok(())
}
