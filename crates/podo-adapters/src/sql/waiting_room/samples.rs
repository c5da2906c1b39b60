//! The figures of sales over time.

use crate::sql::engine::commands::commands;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, params};
use podo_app::Result;
use podo_app::waiting_room::port::samples::{STEPS_S, SaleOutcome, SaleSample, SaleSamples};
use podo_domain::{ScheduleId, Timestamp};

commands! {
    impl SaleSamples for SqlStore {
        write add_samples(AddSamples { samples: Vec<(ScheduleId, SaleSample)> })
            -> () as Worker => add;
        read dates_sold_since(DatesSoldSince { since: Timestamp })
            -> Vec<ScheduleId> as Worker => dates_sold_since;
        read samples(SamplesOf {
            schedule: ScheduleId, from: Timestamp, to: Timestamp, step_s: i64,
        }) -> Vec<SaleSample> as ReadOnly or_replica => samples;
        read sampled_period(SampledPeriod { schedule: ScheduleId })
            -> Option<(Timestamp, Timestamp)> as ReadOnly or_replica => period;
        read n_admitted(AdmittedBy { room: ScheduleId })
            -> u64 as ReadOnly or_replica => n_admitted;
        read sale_outcome(OutcomeOf { schedule: ScheduleId })
            -> SaleOutcome as ReadOnly or_replica => outcome;
    }
}

async fn add(tx: &mut dyn Tx, command: &AddSamples) -> Result<()> {
    let sql = "insert into sale_samples (schedule_id, at, step, waiting, inside, available, held,
                                         sold, revenue)
               values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
               on conflict (schedule_id, at) do nothing";
    let row = |(schedule, it): &(ScheduleId, SaleSample)| {
        params![
            *schedule,
            it.at,
            longest_step(it.at),
            count(it.waiting),
            count(it.inside),
            it.available,
            it.held,
            it.sold,
            it.revenue
        ]
        .to_vec()
    };
    tx.execute_each(sql, command.samples.iter().map(row).collect()).await?;
    Ok(())
}

fn count(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn longest_step(at: Timestamp) -> i64 {
    let is_on = |step_s: &&i64| at.ms().rem_euclid(**step_s * 1_000) == 0;
    STEPS_S.iter().rev().find(is_on).copied().unwrap_or(STEPS_S[0])
}

async fn dates_sold_since(tx: &mut dyn Tx, question: &DatesSoldSince) -> Result<Vec<ScheduleId>> {
    let sql = "select schedule_id from sales_by_grade where updated_at >= $1";
    let rows = tx.query(sql, params![question.since]).await?;
    rows.iter().map(|row| Ok(row.get("schedule_id")?)).collect()
}

async fn samples(tx: &mut dyn Tx, question: &SamplesOf) -> Result<Vec<SaleSample>> {
    let sql = "select at, waiting, inside, available, held, sold, revenue from sale_samples
                where schedule_id = $1 and $2 <= at and at <= $3 and $4 <= step order by at";
    let read = |row: &Row| {
        Ok(SaleSample {
            at: row.get("at")?,
            waiting: row.get("waiting")?,
            inside: row.get("inside")?,
            available: row.get("available")?,
            held: row.get("held")?,
            sold: row.get("sold")?,
            revenue: row.get("revenue")?,
        })
    };
    let values = params![question.schedule, question.from, question.to, question.step_s];
    tx.query(sql, values).await?.iter().map(read).collect()
}

async fn period(
    tx: &mut dyn Tx,
    question: &SampledPeriod,
) -> Result<Option<(Timestamp, Timestamp)>> {
    let sql = "select min(at) as first_at, max(at) as last_at from sale_samples
                where schedule_id = $1";
    let Some(row) = tx.row(sql, params![question.schedule]).await? else { return Ok(None) };
    let (first, last): (Option<Timestamp>, Option<Timestamp>) =
        (row.get("first_at")?, row.get("last_at")?);
    Ok(first.zip(last))
}

async fn n_admitted(tx: &mut dyn Tx, question: &AdmittedBy) -> Result<u64> {
    let sql = "select count(*) as n_admitted from queue_history where schedule_id = $1";
    match tx.row(sql, params![question.room]).await? {
        Some(row) => Ok(row.get("n_admitted")?),
        None => Ok(0),
    }
}

async fn outcome(tx: &mut dyn Tx, question: &OutcomeOf) -> Result<SaleOutcome> {
    let sql = "select count(distinct reservation_id) as n_orders,
                      count(distinct case when status <> 'VOID' then reservation_id end) as n_kept,
                      count(*) as n_sold,
                      count(case when status = 'VOID' then 1 end) as n_canceled,
                      min(created_at) as first_at, max(created_at) as last_at
                 from tickets where schedule_id = $1";
    let Some(row) = tx.row(sql, params![question.schedule]).await? else {
        return Ok(SaleOutcome::default());
    };
    Ok(SaleOutcome {
        orders: row.get("n_orders")?,
        orders_kept: row.get("n_kept")?,
        seats_sold: row.get("n_sold")?,
        seats_canceled: row.get("n_canceled")?,
        first_sold_at: row.get("first_at")?,
        last_sold_at: row.get("last_at")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_belongs_to_the_longest_step_that_it_lies_on() {
        let step = |seconds: i64| longest_step(Timestamp::from_ms(seconds * 1_000));
        assert_eq!(step(7_200), 3_600);
        assert_eq!(step(7_800), 600);
        assert_eq!(step(7_260), 60);
        assert_eq!(step(7_210), 10);
    }
}
