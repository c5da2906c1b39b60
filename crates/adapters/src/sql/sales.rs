//! Sales by date and grade, counted from messages.

use super::messages::mark;
use super::store::SqlStore;
use super::tx::{Tx, work};
use super::value::{Row, params};
use app::ports::sales::{Booked, GradeShare, GradeStatistics, Sales};
use app::{Error, Result};
use async_trait::async_trait;
use domain::{ReservationId, ScheduleId, Timestamp, Won};
use std::collections::BTreeMap;

struct CountBooked {
    consumer: &'static str,
    booked: Vec<Booked>,
    now: Timestamp,
}

struct StatisticsOf(ScheduleId);

work!(Worker: CountBooked => count, u64);
work!(ReadOnly or_replica: StatisticsOf => statistics, Vec<GradeStatistics>);

#[async_trait]
impl Sales for SqlStore {
    async fn count_booked(
        &self,
        consumer: &'static str,
        booked: Vec<Booked>,
        now: Timestamp,
    ) -> Result<u64> {
        self.write(CountBooked { consumer, booked, now }).await
    }

    async fn statistics(&self, schedule: ScheduleId) -> Result<Vec<GradeStatistics>> {
        self.read(StatisticsOf(schedule)).await
    }
}

/// What changes for a grade of a date: seats and won, up or down.
type Changes = BTreeMap<(ScheduleId, String), (i64, i64)>;

async fn count(tx: &mut dyn Tx, command: &CountBooked) -> Result<u64> {
    // Two workers that count for one date wait for each other here, in one order.
    let mut schedules: Vec<ScheduleId> = command.booked.iter().map(|it| it.schedule).collect();
    schedules.sort_unstable();
    schedules.dedup();
    for schedule in schedules {
        tx.lock(schedule.uuid()).await?;
    }
    let messages = command.booked.iter().map(|it| it.message);
    let is_new = mark(tx, command.consumer, messages, command.now).await?;
    let mut latest: BTreeMap<ReservationId, &Booked> = BTreeMap::new();
    let mut n_new = 0;
    for (booked, _) in command.booked.iter().zip(is_new).filter(|(_, is_new)| *is_new) {
        n_new += 1;
        let known = latest.entry(booked.reservation).or_insert(booked);
        if known.seq < booked.seq {
            *known = booked;
        }
    }
    let changes = remember(tx, latest.into_values().collect(), command.now).await?;
    apply(tx, changes, command.now).await?;
    Ok(n_new)
}

/// Stores what each reservation has now, and gives the differences to what was known.
async fn remember(tx: &mut dyn Tx, latest: Vec<&Booked>, now: Timestamp) -> Result<Changes> {
    let ask = "select seq, shares from booked where reservation_id = $1";
    let asked = latest.iter().map(|it| params![it.reservation].to_vec()).collect();
    let known = tx.query_each(ask, asked).await?;
    let mut changes = Changes::new();
    let mut rows = Vec::new();
    for (booked, known) in latest.into_iter().zip(known) {
        let mut before = Vec::new();
        if let Some(row) = known.first() {
            if row.get::<i64>(0)? >= booked.seq {
                continue;
            }
            before = serde_json::from_str(&row.get::<String>(1)?).map_err(Error::broken)?;
        }
        add(&mut changes, booked.schedule, &before, -1);
        add(&mut changes, booked.schedule, &booked.shares, 1);
        let shares = serde_json::to_string(&booked.shares).map_err(Error::broken)?;
        let row = params![booked.reservation, booked.schedule, booked.seq, shares, now];
        rows.push(row.to_vec());
    }
    let keep = "insert into booked (reservation_id, schedule_id, seq, shares, updated_at)
                values ($1, $2, $3, $4, $5)
                on conflict (reservation_id) do update
                   set seq = excluded.seq, shares = excluded.shares,
                       updated_at = excluded.updated_at";
    tx.execute_each(keep, rows).await?;
    Ok(changes)
}

fn add(changes: &mut Changes, schedule: ScheduleId, shares: &[GradeShare], sign: i64) {
    for GradeShare { grade, seats, amount } in shares {
        let (sold, revenue) = changes.entry((schedule, grade.clone())).or_default();
        *sold += sign * i64::from(*seats);
        *revenue += sign * amount.get();
    }
}

async fn apply(tx: &mut dyn Tx, changes: Changes, now: Timestamp) -> Result<()> {
    let sql = "insert into sales_by_grade (schedule_id, grade, sold, revenue, updated_at)
               values ($1, $2, $3, $4, $5)
               on conflict (schedule_id, grade) do update
                  set sold = sales_by_grade.sold + excluded.sold,
                      revenue = sales_by_grade.revenue + excluded.revenue,
                      updated_at = excluded.updated_at";
    let row = |((schedule, grade), (sold, revenue)): ((ScheduleId, String), (i64, i64))| {
        params![schedule, grade, sold, revenue, now].to_vec()
    };
    tx.execute_each(sql, changes.into_iter().map(row).collect()).await?;
    Ok(())
}

async fn statistics(tx: &mut dyn Tx, question: &StatisticsOf) -> Result<Vec<GradeStatistics>> {
    let sql = "select s.grade, count(*), coalesce(max(g.sold), 0), coalesce(max(g.revenue), 0),
                      max(g.updated_at)
                 from seats s
                 left join sales_by_grade g on g.schedule_id = s.schedule_id and g.grade = s.grade
                where s.schedule_id = $1 group by s.grade order by s.grade";
    let read = |row: &Row| {
        let (seats, sold): (u32, u32) = (row.get(1)?, row.get(2)?);
        Ok(GradeStatistics {
            grade: row.get(0)?,
            seats,
            sold,
            available: seats.saturating_sub(sold),
            revenue: row.get::<Won>(3)?,
            updated_at: row.get(4)?,
        })
    };
    tx.query(sql, params![question.0]).await?.iter().map(read).collect()
}
