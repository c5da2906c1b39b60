//! The refunds of a canceled date: what is left to do is what still has an active seat.

use super::super::payments::cancel::{GivenBack, GivenBy, give_back, load_paid};
use super::super::tx::{Tx, work};
use super::super::value::params;
use super::payment_to_refund;
use app::Result;
use app::ports::refunds::RefundRun;
use app::ports::reservations::Freed;
use domain::refunds::RefundTo;
use domain::reservations::ReservationStatus;
use domain::{RefundId, Refusal, ReservationId, ScheduleId, Timestamp};

/// Canceled dates with active seats whose run has not begun, or is over: a command that was under way
/// when the date was called off may have got its seats since.
pub(super) struct RunsToStart;

pub(super) struct StartRun {
    pub(super) schedule: ScheduleId,
    pub(super) now: Timestamp,
}

pub(super) struct RunsToDo;

pub(super) struct ToRefund {
    pub(super) schedule: ScheduleId,
    pub(super) now: Timestamp,
    pub(super) limit: u32,
}

pub(super) struct RefundCanceled {
    pub(super) reservation: ReservationId,
    pub(super) refund: RefundId,
    pub(super) now: Timestamp,
}

pub(super) struct FinishRun {
    pub(super) schedule: ScheduleId,
    pub(super) now: Timestamp,
}

pub(super) struct RunOf(pub(super) ScheduleId);

work!(Worker: RunsToStart => runs_to_start, Vec<ScheduleId>);
work!(Worker: StartRun => start, ());
work!(Worker: RunsToDo => runs_to_do, Vec<ScheduleId>);
work!(Worker: ToRefund => to_refund, Vec<ReservationId>);
work!(Worker: RefundCanceled => refund, Option<Freed>);
work!(Worker: FinishRun => finish, bool);
work!(ReadOnly or_replica: RunOf => view, Option<RefundRun>);

async fn runs_to_start(tx: &mut dyn Tx, _question: &RunsToStart) -> Result<Vec<ScheduleId>> {
    let sql = "select s.id
                 from event_schedules s
                where s.status = 'CANCELLED'
                  and not exists (select 1 from refund_runs r
                                   where r.schedule_id = s.id and r.status = 'RUNNING')
                  and exists (select 1 from reservation_seats c
                               where c.schedule_id = s.id and c.active)";
    schedules(tx, sql).await
}

async fn start(tx: &mut dyn Tx, command: &StartRun) -> Result<()> {
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

async fn runs_to_do(tx: &mut dyn Tx, _question: &RunsToDo) -> Result<Vec<ScheduleId>> {
    let sql = "select schedule_id from refund_runs where status = 'RUNNING' order by created_at";
    schedules(tx, sql).await
}

async fn schedules(tx: &mut dyn Tx, sql: &'static str) -> Result<Vec<ScheduleId>> {
    let rows = tx.query(sql, &[]).await?;
    Ok(rows.iter().map(|row| row.get(0)).collect::<std::result::Result<_, _>>()?)
}

async fn to_refund(tx: &mut dyn Tx, question: &ToRefund) -> Result<Vec<ReservationId>> {
    let sql = "select distinct r.id
                 from reservation_seats c join reservations r on r.id = c.reservation_id
                where c.schedule_id = $1 and c.active and r.status = 'CONFIRMED'
                  and coalesce((select f.next_at from job_failures f
                                   where f.job = 'refund-canceled' and f.item = r.id), $3) <= $3
                limit $2";
    let values = params![question.schedule, question.limit, question.now];
    let rows = tx.query(sql, values).await?;
    Ok(rows.iter().map(|row| row.get(0)).collect::<std::result::Result<_, _>>()?)
}

async fn refund(tx: &mut dyn Tx, command: &RefundCanceled) -> Result<Option<Freed>> {
    let payment = payment_to_refund(tx, command.reservation).await?;
    let paid = load_paid(tx, payment.ok_or(Refusal::NotFound)?).await?;
    if paid.reservation.status != ReservationStatus::Confirmed {
        return Ok(None);
    }
    let schedule = paid.reservation.schedule;
    let given = GivenBack {
        seats: paid.seats.clone(),
        fee_percent: 0,
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

/// Seats that are held or being paid for end by themselves, and may yet become paid ones.
async fn finish(tx: &mut dyn Tx, command: &FinishRun) -> Result<bool> {
    let sql = "update refund_runs set status = 'DONE', updated_at = $2
                where schedule_id = $1 and status = 'RUNNING'
                  and not exists (select 1 from reservation_seats c
                                   where c.schedule_id = $1 and c.active)";
    Ok(tx.execute(sql, params![command.schedule, command.now]).await? == 1)
}

async fn view(tx: &mut dyn Tx, question: &RunOf) -> Result<Option<RefundRun>> {
    let sql = "select status, n_reservations, n_refunded, amount, created_at,
                      (select count(*) from refunds f join reservations r on r.id = f.reservation_id
                        where r.schedule_id = $1 and f.status = 'DUE')
                 from refund_runs where schedule_id = $1";
    let Some(row) = tx.row(sql, params![question.0]).await? else { return Ok(None) };
    let status: String = row.get(0)?;
    Ok(Some(RefundRun {
        schedule_id: question.0,
        is_done: status == "DONE",
        reservations: row.get(1)?,
        refunded: row.get(2)?,
        amount: row.get(3)?,
        due: row.get(5)?,
        started_at: row.get(4)?,
    }))
}
