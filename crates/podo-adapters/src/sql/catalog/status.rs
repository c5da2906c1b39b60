//! Keeps the stored sale status of dates current as time passes.

use crate::sql::catalog::UpdateScheduleStatuses;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, params};
use podo_app::Result;
use podo_domain::ScheduleId;
use podo_domain::catalog::{ScheduleStatus, ScheduleTimes};

struct DueSchedule {
    schedule: ScheduleId,
    status: ScheduleStatus,
    times: ScheduleTimes,
}

/// Each update compares the old status, so a date that is canceled concurrently stays canceled.
pub(super) async fn update_statuses(
    tx: &mut dyn Tx,
    command: &UpdateScheduleStatuses,
) -> Result<u64> {
    let sql = "update event_schedules set status = $3, updated_at = $4
                where id = $1 and status = $2";
    let mut n_changed = 0;
    for due in due_schedules(tx, command).await? {
        let next = due.status.at(&due.times, command.now);
        let values = params![due.schedule, due.status.as_str(), next.as_str(), command.now];
        n_changed += tx.execute(sql, values).await?;
    }
    Ok(n_changed)
}

async fn due_schedules(
    tx: &mut dyn Tx,
    command: &UpdateScheduleStatuses,
) -> Result<Vec<DueSchedule>> {
    let sql = "select id, status, starts_at, ends_at, sale_starts_at, sale_ends_at
                 from event_schedules where status = 'UPCOMING' and sale_starts_at <= $1
                union all
               select id, status, starts_at, ends_at, sale_starts_at, sale_ends_at
                 from event_schedules where status = 'ONGOING' and sale_ends_at <= $1
                limit $2";
    let rows = tx.query(sql, params![command.now, command.limit]).await?;
    rows.iter().map(read_due).collect()
}

fn read_due(row: &Row) -> Result<DueSchedule> {
    Ok(DueSchedule {
        schedule: row.get("id")?,
        status: row.parse("status", ScheduleStatus::parse)?,
        times: ScheduleTimes {
            starts_at: row.get("starts_at")?,
            ends_at: row.get("ends_at")?,
            sale_starts_at: row.get("sale_starts_at")?,
            sale_ends_at: row.get("sale_ends_at")?,
        },
    })
}
