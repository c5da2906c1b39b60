//! The promises as questions: each must find nothing. `podo verify` and the tests ask all of them
//! on one consistent view of the store.

mod audit_chain;
mod money;
mod seats;

use super::store::SqlStore;
use super::tx::{Tx, work};
use super::value::{Row, Value, params};
use app::Result;
use app::ports::invariants::{Finding, Invariants};
use async_trait::async_trait;
use domain::Timestamp;
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
}

struct CheckAll(Timestamp);
work!(ReadOnly: CheckAll => check_all, Vec<Finding>);

#[async_trait]
impl Invariants for SqlStore {
    async fn check_all(&self, now: Timestamp) -> Result<Vec<Finding>> {
        self.read(CheckAll(now)).await
    }
}

async fn check_all(tx: &mut dyn Tx, question: &CheckAll) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for check in seats::CHECKS.iter().chain(money::CHECKS) {
        findings.push(run(tx, check, question.0).await?);
    }
    findings.push(run(tx, &seats::MESSAGES, question.0.minus(MESSAGES_KEPT)).await?);
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
    Ok(Finding {
        id: check.id,
        rule: check.rule,
        n_checked,
        n_broken: broken.len() as u64,
        examples: broken.iter().take(EXAMPLES_MAX).map(describe).collect(),
    })
}

/// A row as a person can look it up.
fn describe(row: &Row) -> String {
    let column = |value: &Value| match value {
        Value::Null => "-".to_owned(),
        Value::Int(number) => number.to_string(),
        Value::Bool(truth) => truth.to_string(),
        Value::Text(text) | Value::Json(text) => text.clone(),
        Value::Uuid(uuid) => uuid.to_string(),
        Value::Time(time) => time.to_string(),
        Value::Bytes(bytes) => match uuid::Uuid::from_slice(bytes) {
            Ok(uuid) => uuid.to_string(),
            Err(_) => format!("{} bytes", bytes.len()),
        },
    };
    row.0.iter().map(column).collect::<Vec<_>>().join(" ")
}
