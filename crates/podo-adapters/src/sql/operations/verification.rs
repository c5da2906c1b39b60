//! The hourly check's findings, and the sales that it stopped.

use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, params};
use crate::sql::operations::audit;
use crate::sql::operations::audit::AuditEntry;
use crate::sql::operations::invariants::{
    KeepReport, LastReport, ResumeSale, StopSale, StoppedSales,
};
use podo_app::Result;
use podo_app::operations::port::invariants::{Report, Stopped};
use podo_domain::{Refusal, ScheduleId, UserId};
use serde_json::json;
use uuid::Uuid;

/// Reports kept: ten days of hourly ones.
const REPORTS_KEPT: u32 = 240;

/// The actor of changes that the platform itself makes.
const PLATFORM: UserId = UserId::new(Uuid::nil());

pub(super) async fn keep(tx: &mut dyn Tx, KeepReport { report }: &KeepReport) -> Result<()> {
    let sql = "insert into verifications (started_at, finished_at, n_broken, findings)
               values ($1, $2, $3, $4) on conflict (started_at) do nothing";
    let values = params![report.started_at, report.finished_at, report.n_broken, &report.findings];
    tx.execute(sql, values).await?;
    let forget = "delete from verifications where started_at not in
                    (select started_at from verifications order by started_at desc limit $1)";
    tx.execute(forget, params![REPORTS_KEPT]).await?;
    Ok(())
}

pub(super) async fn last(tx: &mut dyn Tx, _: &LastReport) -> Result<Option<Report>> {
    let sql = "select started_at, finished_at, n_broken, findings from verifications
                order by started_at desc limit 1";
    let read = |row: &Row| {
        Ok(Report {
            started_at: row.get("started_at")?,
            finished_at: row.get("finished_at")?,
            n_broken: row.get("n_broken")?,
            findings: row.get("findings")?,
        })
    };
    tx.row(sql, &[]).await?.as_ref().map(read).transpose()
}

pub(super) async fn stopped(tx: &mut dyn Tx, _: &StoppedSales) -> Result<Vec<Stopped>> {
    let sql = "select id, stopped_at, stopped_why from event_schedules
                where stopped_at is not null order by stopped_at, id";
    let read = |row: &Row| {
        let (schedule_id, stopped_at, why) =
            (row.get("id")?, row.get("stopped_at")?, row.get("stopped_why")?);
        Ok(Stopped { schedule_id, stopped_at, why })
    };
    tx.query(sql, &[]).await?.iter().map(read).collect()
}

pub(super) async fn stop(tx: &mut dyn Tx, command: &StopSale) -> Result<bool> {
    let sql = "update event_schedules set stopped_at = $2, stopped_why = $3, updated_at = $2
                where id = $1 and stopped_at is null";
    if tx.execute(sql, params![command.schedule, command.now, &command.why]).await? == 0 {
        return Ok(false);
    }
    let details = json!({ "why": command.why });
    let entry = entry(PLATFORM, "schedule.stop-sale", command.schedule, &details);
    audit::append(tx, entry, command.now).await?;
    Ok(true)
}

pub(super) async fn resume(tx: &mut dyn Tx, command: &ResumeSale) -> Result<()> {
    let sql = "update event_schedules set stopped_at = null, stopped_why = null, updated_at = $2
                where id = $1";
    if tx.execute(sql, params![command.schedule, command.now]).await? == 0 {
        return Err(Refusal::NotFound.into());
    }
    let details = json!({});
    let entry = entry(command.actor, "schedule.resume-sale", command.schedule, &details);
    audit::append(tx, entry, command.now).await
}

fn entry<'d>(
    actor: UserId,
    action: &'static str,
    schedule: ScheduleId,
    details: &'d serde_json::Value,
) -> AuditEntry<'d, serde_json::Value> {
    AuditEntry { actor, action, subject: schedule.to_string(), details }
}
