//! Keeps the stored sale status of dates true as time passes.

use super::super::tx::{Tx, work};
use super::super::value::{Row, params};
use app::Result;
use domain::catalog::{ScheduleStatus, ScheduleTimes};
use domain::{ScheduleId, Timestamp};

pub(super) struct UpdateScheduleStatuses {
    pub(super) limit: u32,
    pub(super) now: Timestamp,
}

work!(Event: UpdateScheduleStatuses => update_statuses, u64);

struct DueSchedule {
    schedule: ScheduleId,
    status: ScheduleStatus,
    times: ScheduleTimes,
}

/// Each change compares the old status, so that a date that is cancelled meanwhile stays cancelled.
async fn update_statuses(tx: &mut dyn Tx, command: &UpdateScheduleStatuses) -> Result<u64> {
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
        schedule: row.get(0)?,
        status: row.parse(1, ScheduleStatus::parse)?,
        times: ScheduleTimes {
            starts_at: row.get(2)?,
            ends_at: row.get(3)?,
            sale_starts_at: row.get(4)?,
            sale_ends_at: row.get(5)?,
        },
    })
}
