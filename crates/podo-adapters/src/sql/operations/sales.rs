//! Sales by date and grade, counted from messages.

use crate::sql::engine::commands::commands;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, params};
use crate::sql::messaging::messages::mark;
use podo_app::payments::port::sales::{Booked, EventSold, GradeShare, GradeStatistics, Sales};
use podo_app::{Error, Result};
use podo_domain::{EventId, ReservationId, ScheduleId, Timestamp, Won};
use std::collections::BTreeMap;

commands! {
    impl Sales for SqlStore {
        write count_booked(CountBooked {
            consumer: &'static str, booked: Vec<Booked>, now: Timestamp,
        }) -> u64 as Worker => count;
        read events_sold(EventsSold { events: Vec<EventId> })
            -> Vec<EventSold> as ReadOnly or_replica => events_sold;
        read statistics(StatisticsOf { schedule: ScheduleId })
            -> Vec<GradeStatistics> as ReadOnly or_replica => statistics;
    }
}

/// Changes per date and grade: seats and won, up or down.
type Changes = BTreeMap<(ScheduleId, String), (i64, i64)>;

async fn count(tx: &mut dyn Tx, command: &CountBooked) -> Result<u64> {
    // Lock dates in sorted order, so that workers that count for the same dates can't deadlock.
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

/// Stores each reservation's latest state and returns the differences from the previous one.
async fn remember(tx: &mut dyn Tx, latest: Vec<&Booked>, now: Timestamp) -> Result<Changes> {
    let ask = "select seq, shares from booked where reservation_id = $1";
    let asked = latest.iter().map(|it| params![it.reservation].to_vec()).collect();
    let known = tx.query_each(ask, asked).await?;
    let mut changes = Changes::new();
    let mut rows = Vec::new();
    for (booked, known) in latest.into_iter().zip(known) {
        let mut before = Vec::new();
        if let Some(row) = known.first() {
            if row.get::<i64>("seq")? >= booked.seq {
                continue;
            }
            before = row.json("shares")?;
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

async fn events_sold(tx: &mut dyn Tx, question: &EventsSold) -> Result<Vec<EventSold>> {
    let sql = "select min(s.starts_at) as starts_at, max(s.starts_at) as last_starts_at,
                      count(*) as n_dates, cast(coalesce(sum(s.n_seats), 0) as bigint) as n_seats,
                      cast(coalesce(sum((select sum(g.sold) from sales_by_grade g
                                          where g.schedule_id = s.id)), 0) as bigint) as n_sold
                 from event_schedules s where s.event_id = $1 and s.status <> 'CANCELLED'";
    let sets = question.events.iter().map(|event| params![*event].to_vec()).collect();
    let read = |rows: Vec<Row>| {
        let Some(row) = rows.first() else { return Ok(EventSold::default()) };
        Ok(EventSold {
            starts_at: row.get("starts_at")?,
            last_starts_at: row.get("last_starts_at")?,
            dates: row.get("n_dates")?,
            seats: row.get("n_seats")?,
            sold: row.get("n_sold")?,
        })
    };
    tx.query_each(sql, sets).await?.into_iter().map(read).collect()
}

async fn statistics(tx: &mut dyn Tx, question: &StatisticsOf) -> Result<Vec<GradeStatistics>> {
    let sql = "select s.grade, count(*) as n_seats, coalesce(max(g.sold), 0) as n_sold,
                      sum(case when s.state = 'KEPT' then 1 else 0 end) as n_kept,
                      coalesce(max(g.revenue), 0) as revenue, max(g.updated_at) as updated_at
                 from seats s
                 left join sales_by_grade g on g.schedule_id = s.schedule_id and g.grade = s.grade
                where s.schedule_id = $1 group by s.grade order by s.grade";
    let read = |row: &Row| {
        let (seats, sold): (u32, u32) = (row.get("n_seats")?, row.get("n_sold")?);
        let kept: u32 = row.get("n_kept")?;
        Ok(GradeStatistics {
            grade: row.get("grade")?,
            seats,
            sold,
            kept,
            available: seats.saturating_sub(sold).saturating_sub(kept),
            revenue: row.get::<Won>("revenue")?,
            updated_at: row.get("updated_at")?,
        })
    };
    tx.query(sql, params![question.schedule]).await?.iter().map(read).collect()
}
