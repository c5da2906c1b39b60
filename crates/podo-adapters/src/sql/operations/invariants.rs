//! The invariants as queries: each must find nothing. `podo verify` and the tests run all of them
//! on one consistent snapshot.

mod audit_chain;
mod money;
mod seats;

use crate::sql::engine::commands::commands;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, Value, params};
use crate::sql::operations::verification;
use podo_app::Result;
use podo_app::operations::port::invariants::{Finding, Invariants, Report, Stopped};
use podo_domain::{ScheduleId, Timestamp, UserId};
use std::time::Duration;

/// How many violations a report names.
const EXAMPLES_MAX: usize = 5;

/// Published messages are kept for at least this long.
const MESSAGES_KEPT: Duration = Duration::from_secs(7 * 86_400);

/// An invariant in SQL: `population` counts its subjects, `broken` lists violations. `$1` is now.
pub(crate) struct Check {
    pub(crate) id: &'static str,
    pub(crate) rule: &'static str,
    pub(crate) population: &'static str,
    pub(crate) broken: &'static str,
    pub(crate) names: Names,
}

/// What the first column of a violation identifies, to find the date whose sale must stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Names {
    Schedule,
    Reservation,
    Payment,
    /// Nothing on sale.
    Other,
}

commands! {
    impl Invariants for SqlStore {
        read check_all(CheckAll { now: Timestamp }) -> Vec<Finding> as ReadOnly => check_all;
        write keep_report(KeepReport { report: Report }) -> () as Worker => verification::keep;
        read last_report(LastReport {}) -> Option<Report> as Worker => verification::last;
        write stop_sale(StopSale { schedule: ScheduleId, why: String, now: Timestamp })
            -> bool as Worker => verification::stop;
        write resume_sale(ResumeSale { schedule: ScheduleId, actor: UserId, now: Timestamp })
            -> () as Event => verification::resume;
        read stopped_sales(StoppedSales {}) -> Vec<Stopped> as Worker => verification::stopped;
    }
}

async fn check_all(tx: &mut dyn Tx, question: &CheckAll) -> Result<Vec<Finding>> {
    tx.take_time().await?;
    let mut findings = Vec::new();
    for check in seats::CHECKS.iter().chain(money::CHECKS) {
        findings.push(run(tx, check, question.now).await?);
    }
    findings.push(run(tx, &seats::MESSAGES, question.now.minus(MESSAGES_KEPT)).await?);
    findings.push(run(tx, &seats::LETTERS, question.now.minus(MESSAGES_KEPT)).await?);
    findings.push(seats::check_edges(tx).await?);
    findings.push(audit_chain::check(tx).await?);
    findings.sort_by_key(|finding| finding.id[1..].parse::<u32>().unwrap_or(u32::MAX));
    Ok(findings)
}

async fn run(tx: &mut dyn Tx, check: &Check, now: Timestamp) -> Result<Finding> {
    let counted = tx.row(check.population, &[]).await?;
    let n_checked = counted.map(|row| row.get("n")).transpose()?.unwrap_or(0);
    let values: &[Value] = if check.broken.contains("$1") { params![now] } else { &[] };
    let broken = tx.query(check.broken, values).await?;
    let stops = dates_of(tx, check.names, &broken).await?;
    Ok(Finding {
        id: check.id,
        rule: check.rule,
        n_checked,
        n_broken: broken.len() as u64,
        examples: broken.iter().take(EXAMPLES_MAX).map(describe).collect(),
        stops,
    })
}

/// The maximum of violations to look up dates for; more than this has another cause.
const STOPS_MAX: usize = 1_000;

/// The dates that violations belong to.
async fn dates_of(tx: &mut dyn Tx, names: Names, broken: &[Row]) -> Result<Vec<ScheduleId>> {
    let sql = match names {
        Names::Other => return Ok(Vec::new()),
        Names::Schedule => "select id as schedule_id from event_schedules where id = $1",
        Names::Reservation => "select schedule_id from reservations where id = $1",
        Names::Payment => {
            "select r.schedule_id from payments p join reservations r on r.id = p.reservation_id
              where p.id = $1"
        }
    };
    let mut dates = Vec::new();
    for row in broken.iter().take(STOPS_MAX) {
        if let Some(found) = tx.row(sql, &row.values()[..1]).await? {
            dates.push(found.get("schedule_id")?);
        }
    }
    dates.sort_unstable();
    dates.dedup();
    Ok(dates)
}

/// A row in readable form.
fn describe(row: &Row) -> String {
    row.values().iter().map(Value::shown).collect::<Vec<_>>().join(" ")
}
