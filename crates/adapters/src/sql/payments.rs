//! Payments: loading them and storing what a rule decided.

pub(super) mod cancel;
mod confirm;
mod read;
mod refund;
mod request;
mod sandbox;
pub(super) mod settle;

use super::reservations::read_reservation;
use super::tx::Tx;
use super::value::{Row, params};
use app::{Error, Result};
use domain::catalog::ScheduleStatus;
use domain::payments::{Payment, PaymentMethod, PaymentStatus};
use domain::reservations::Reservation;
use domain::{EventId, PaymentId, ReservationId, Timestamp, UserId, Won};

/// A payment with what the store knows around it.
pub(super) struct PaymentRow {
    pub(super) payment: Payment,
    pub(super) reservation: ReservationId,
    pub(super) user: UserId,
    pub(super) gateway: Option<String>,
    pub(super) gateway_ref: Option<String>,
    pub(super) confirm_key: Option<String>,
}

pub(super) async fn load(tx: &mut dyn Tx, id: PaymentId) -> Result<Option<PaymentRow>> {
    let sql = "select id, method, status, amount, captured, refunded, reservation_id, user_id,
                      gateway, gateway_ref, confirm_key, promised
                 from payments where id = $1";
    tx.row(sql, params![id]).await?.as_ref().map(read_payment).transpose()
}

/// As many as [`read_payment`] reads.
const PAYMENT_COLUMNS: usize = 12;

fn read_payment(row: &Row) -> Result<PaymentRow> {
    let payment = Payment {
        id: row.get(0)?,
        method: row.parse(1, PaymentMethod::parse)?,
        status: row.parse(2, PaymentStatus::parse)?,
        amount: row.get(3)?,
        captured: row.get(4)?,
        refunded: row.get(5)?,
        promised: row.get(11)?,
    };
    Ok(PaymentRow {
        payment,
        reservation: row.get(6)?,
        user: row.get(7)?,
        gateway: row.get(8)?,
        gateway_ref: row.get(9)?,
        confirm_key: row.get(10)?,
    })
}

/// A payment with the reservation that it pays for, its event and what became of its date.
pub(super) struct Purchase {
    pub(super) row: PaymentRow,
    pub(super) reservation: Reservation,
    pub(super) date: ScheduleStatus,
    pub(super) event: EventId,
}

pub(super) async fn load_purchase(tx: &mut dyn Tx, id: PaymentId) -> Result<Option<Purchase>> {
    let sql = "select p.id, p.method, p.status, p.amount, p.captured, p.refunded, p.reservation_id,
                      p.user_id, p.gateway, p.gateway_ref, p.confirm_key, p.promised,
                      r.id, r.user_id, r.schedule_id, r.status, r.hold_expires_at, r.amount,
                      r.version, r.payment_window_given, r.retry_window_given, r.place_number,
                      s.status, s.event_id
                 from payments p join reservations r on r.id = p.reservation_id
                 join event_schedules s on s.id = r.schedule_id
                where p.id = $1";
    let Some(mut row) = tx.row(sql, params![id]).await? else { return Ok(None) };
    let reservation = Row(row.0.split_off(PAYMENT_COLUMNS));
    Ok(Some(Purchase {
        row: read_payment(&row)?,
        reservation: read_reservation(&reservation)?,
        date: reservation.parse(10, ScheduleStatus::parse)?,
        event: reservation.get(11)?,
    }))
}

/// Stores the step from `before` to `after`, if nobody was faster, and its history row.
pub(super) async fn store(
    tx: &mut dyn Tx,
    before: &Payment,
    after: &Payment,
    now: Timestamp,
) -> Result<()> {
    let sql = "update payments set status = $3, captured = $4, refunded = $5, promised = $6,
                                   updated_at = $7
                where id = $1 and status = $2 and refunded = $8 and promised = $9";
    let values = params![
        before.id,
        before.status.as_str(),
        after.status.as_str(),
        after.captured,
        after.refunded,
        after.promised,
        now,
        before.refunded,
        before.promised
    ];
    tx.change(sql, vec![values.to_vec()]).await?;
    record(tx, after, moved(before, after), now).await
}

/// How much money a step moved.
fn moved(before: &Payment, after: &Payment) -> Won {
    let captured = after.captured.checked_sub(before.captured).unwrap_or(Won::ZERO);
    let refunded = after.refunded.checked_sub(before.refunded).unwrap_or(Won::ZERO);
    if captured.is_zero() { refunded } else { captured }
}

async fn record(tx: &mut dyn Tx, payment: &Payment, amount: Won, now: Timestamp) -> Result<()> {
    let sql = "insert into payment_history (payment_id, step, status, amount, created_at)
               values ($1, (select coalesce(max(step), 0) + 1 from payment_history
                             where payment_id = $1), $2, $3, $4)";
    let values = params![payment.id, payment.status.as_str(), amount, now];
    Ok(tx.add(sql, vec![values.to_vec()]).await?)
}

/// Cancels a payment that was only prepared: no money could have moved.
pub(super) async fn cancel_ready(
    tx: &mut dyn Tx,
    reservation: ReservationId,
    now: Timestamp,
) -> Result<()> {
    let sql = "select id from payments where reservation_id = $1 and status = 'READY'";
    let Some(row) = tx.row(sql, params![reservation]).await? else { return Ok(()) };
    let id: PaymentId = row.get(0)?;
    let ready = load(tx, id).await?.ok_or_else(|| Error::Broken(format!("no payment {id}")))?;
    store(tx, &ready.payment, &ready.payment.canceled(), now).await
}
