//! The promises as questions: each must find nothing. `podo verify` and the tests ask all of them
//! on one consistent view of the store.

mod audit_chain;
mod money;
mod seats;

use super::store::SqlStore;
use super::tx::{Tx, work};
use super::value::{Row, Value, params};
use super::verification::{KeepReport, LastReport, ResumeSale, StopSale, StoppedSales};
use app::Result;
use app::ports::invariants::{Finding, Invariants, Report, Stopped};
use async_trait::async_trait;
use domain::{ScheduleId, Timestamp, UserId};
use std::time::Duration;

/// How many offenders are named.
const EXAMPLES_MAX: usize = 5;

/// Published messages are kept for at least this long.
const MESSAGES_KEPT: Duration = Duration::from_secs(7 * 86_400);

/// An invariant in SQL: `population` counts what it speaks of, `broken` lists what breaks it.
/// `$1` is now.
pub(super) struct Check {
    pub(super) id: &'static str,
    pub(super) rule: &'static str,
    pub(super) population: &'static str,
    pub(super) broken: &'static str,
    pub(super) names: Names,
}

/// What the first column of a broken row names: by it the date is found whose sale must stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Names {
    Schedule,
    Reservation,
    Payment,
    /// Nothing that is sold.
    Other,
}

struct CheckAll(Timestamp);
work!(ReadOnly: CheckAll => check_all, Vec<Finding>);

#[async_trait]
impl Invariants for SqlStore {
    async fn check_all(&self, now: Timestamp) -> Result<Vec<Finding>> {
        self.read(CheckAll(now)).await
    }

    async fn keep_report(&self, report: Report) -> Result<()> {
        self.write(KeepReport(report)).await
    }

    async fn last_report(&self) -> Result<Option<Report>> {
        self.read(LastReport).await
    }

    async fn stop_sale(&self, schedule: ScheduleId, why: String, now: Timestamp) -> Result<bool> {
        self.write(StopSale { schedule, why, now }).await
    }

    async fn resume_sale(&self, schedule: ScheduleId, actor: UserId, now: Timestamp) -> Result<()> {
        self.write(ResumeSale { schedule, actor, now }).await
    }

    async fn stopped_sales(&self) -> Result<Vec<Stopped>> {
        self.read(StoppedSales).await
    }
}

async fn check_all(tx: &mut dyn Tx, question: &CheckAll) -> Result<Vec<Finding>> {
    tx.take_time().await?;
    let mut findings = Vec::new();
    for check in seats::CHECKS.iter().chain(money::CHECKS) {
        findings.push(run(tx, check, question.0).await?);
    }
    findings.push(run(tx, &seats::MESSAGES, question.0.minus(MESSAGES_KEPT)).await?);
    findings.push(run(tx, &seats::LETTERS, question.0.minus(MESSAGES_KEPT)).await?);
    findings.push(seats::check_edges(tx).await?);
    findings.push(audit_chain::check(tx).await?);
    findings.sort_by_key(|finding| finding.id[1..].parse::<u32>().unwrap_or(u32::MAX));
    Ok(findings)
}

async fn run(tx: &mut dyn Tx, check: &Check, now: Timestamp) -> Result<Finding> {
    let counted = tx.row(check.population, &[]).await?;
    let n_checked = counted.map(|row| row.get(0)).transpose()?.unwrap_or(0);
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

/// Most broken rows whose date is looked up: beyond it something else is wrong.
const STOPS_MAX: usize = 1_000;

/// The dates that broken rows belong to.
async fn dates_of(tx: &mut dyn Tx, names: Names, broken: &[Row]) -> Result<Vec<ScheduleId>> {
    let sql = match names {
        Names::Other => return Ok(Vec::new()),
        Names::Schedule => "select id from event_schedules where id = $1",
        Names::Reservation => "select schedule_id from reservations where id = $1",
        Names::Payment => {
            "select r.schedule_id from payments p join reservations r on r.id = p.reservation_id
              where p.id = $1"
        }
    };
    let mut dates = Vec::new();
    for row in broken.iter().take(STOPS_MAX) {
        if let Some(found) = tx.row(sql, &row.0[..1]).await? {
            dates.push(found.get(0)?);
        }
    }
    dates.sort_unstable();
    dates.dedup();
    Ok(dates)
}

/// A row as a person can look it up.
fn describe(row: &Row) -> String {
    row.0.iter().map(Value::shown).collect::<Vec<_>>().join(" ")
}
