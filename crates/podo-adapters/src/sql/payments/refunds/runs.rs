//! The refunds of a canceled date. What is left to do is what still has an active seat.

use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::params;
use crate::sql::payments::cancel::{GivenBack, GivenBy, give_back, load_paid};
use crate::sql::payments::refunds::{
    FinishRun, RefundCanceled, RunOf, RunsToDo, RunsToStart, StartRun, ToRefund, payment_to_refund,
};
use podo_app::Result;
use podo_app::booking::port::reservations::Freed;
use podo_app::payments::port::refunds::RefundRun;
use podo_domain::booking::reservations::ReservationStatus;
use podo_domain::payments::refunds::{CancelTerms, RefundTo};
use podo_domain::{Refusal, ReservationId, ScheduleId};

/// Canceled dates with active seats whose run hasn't started or has finished: a command in flight
/// when the date was canceled may have taken seats since.
pub(super) async fn runs_to_start(
    tx: &mut dyn Tx,
    _question: &RunsToStart,
) -> Result<Vec<ScheduleId>> {
    let sql = "select s.id as schedule_id
                 from event_schedules s
                where s.status = 'CANCELLED'
                  and not exists (select 1 from refund_runs r
                                   where r.schedule_id = s.id and r.status = 'RUNNING')
                  and exists (select 1 from reservation_seats c
                               where c.schedule_id = s.id and c.active)";
    schedules(tx, sql).await
}

pub(super) async fn start(tx: &mut dyn Tx, command: &StartRun) -> Result<()> {
    let sql = "insert into refund_runs (schedule_id, status, n_reservations, created_at,
                                        updated_at)
               select $1, 'RUNNING', count(distinct reservation_id), $2, $2
                 from reservation_seats
                where schedule_id = $1 and active
                   on conflict (schedule_id) do update
                  set status = 'RUNNING', updated_at = $2,
                      n_reservations = refund_runs.n_refunded + excluded.n_reservations
                where refund_runs.status = 'DONE'";
    tx.execute(sql, params![command.schedule, command.now]).await?;
    Ok(())
}

pub(super) async fn runs_to_do(tx: &mut dyn Tx, _question: &RunsToDo) -> Result<Vec<ScheduleId>> {
    let sql = "select schedule_id from refund_runs where status = 'RUNNING' order by created_at";
    schedules(tx, sql).await
}

async fn schedules(tx: &mut dyn Tx, sql: &'static str) -> Result<Vec<ScheduleId>> {
    let rows = tx.query(sql, &[]).await?;
    Ok(rows.iter().map(|row| row.get("schedule_id")).collect::<std::result::Result<_, _>>()?)
}

pub(super) async fn to_refund(tx: &mut dyn Tx, question: &ToRefund) -> Result<Vec<ReservationId>> {
    // Materialized, so that the search starts from the claims of the date.
    let sql = "with claimed as materialized (select distinct c.reservation_id as id
                                               from reservation_seats c
                                              where c.active and c.schedule_id = $1)
               select r.id from claimed join reservations r on r.id = claimed.id
                where r.status = 'CONFIRMED'
                  and coalesce((select f.next_at from job_failures f
                                   where f.job = 'refund-canceled' and f.item = r.id), $3) <= $3
                limit $2";
    let values = params![question.schedule, question.limit, question.now];
    tx.follow_indexes().await?;
    let rows = tx.query(sql, values).await?;
    Ok(rows.iter().map(|row| row.get("id")).collect::<std::result::Result<_, _>>()?)
}

pub(super) async fn refund(tx: &mut dyn Tx, command: &RefundCanceled) -> Result<Option<Freed>> {
    let payment = payment_to_refund(tx, command.reservation).await?;
    let paid = load_paid(tx, payment.ok_or(Refusal::NotFound)?).await?;
    if paid.reservation.status != ReservationStatus::Confirmed {
        return Ok(None);
    }
    let schedule = paid.reservation.schedule;
    let given = GivenBack {
        seats: paid.seats.clone(),
        terms: CancelTerms::FREE,
        refund: command.refund,
        reason: "SHOW_CANCELED",
        to: RefundTo::Original,
        by: GivenBy::House,
        now: command.now,
    };
    let (canceled, freed) = give_back(tx, paid, given).await?;
    let count = "update refund_runs set n_refunded = n_refunded + 1, amount = amount + $2,
                                        updated_at = $3
                  where schedule_id = $1";
    tx.execute(count, params![schedule, canceled.refund_amount, command.now]).await?;
    Ok(Some(freed))
}

/// Seats that are held or being paid for end by themselves, and may still become sold.
pub(super) async fn finish(tx: &mut dyn Tx, command: &FinishRun) -> Result<bool> {
    let sql = "update refund_runs set status = 'DONE', updated_at = $2
                where schedule_id = $1 and status = 'RUNNING'
                  and not exists (select 1 from reservation_seats c
                                   where c.schedule_id = $1 and c.active)";
    tx.follow_indexes().await?;
    Ok(tx.execute(sql, params![command.schedule, command.now]).await? == 1)
}

pub(super) async fn view(tx: &mut dyn Tx, question: &RunOf) -> Result<Option<RefundRun>> {
    let sql = "select status, n_reservations, n_refunded, amount, created_at,
                      (select count(*) from refunds f join reservations r on r.id = f.reservation_id
                        where r.schedule_id = $1 and f.status = 'DUE') as n_due
                 from refund_runs where schedule_id = $1";
    let Some(row) = tx.row(sql, params![question.schedule]).await? else { return Ok(None) };
    let status: String = row.get("status")?;
    Ok(Some(RefundRun {
        schedule_id: question.schedule,
        is_done: status == "DONE",
        reservations: row.get("n_reservations")?,
        refunded: row.get("n_refunded")?,
        amount: row.get("amount")?,
        due: row.get("n_due")?,
        started_at: row.get("created_at")?,
    }))
}
