//! Erases purchases whose retention period is over: whole reservations, one transaction each. The
//! wallet ledger stays, because it proves the balance and is append-only; entries may then refer to
//! payments that no longer exist. Sales totals stay as they were counted.

use super::store::SqlStore;
use super::tx::{Tx, work};
use super::value::{Row, first_at, params};
use app::ports::records::Records;
use app::{Error, Result};
use async_trait::async_trait;
use domain::payments::PaymentStatus;
use domain::refunds::RefundStatus;
use domain::reservations::ReservationStatus;
use domain::retention::Record;
use domain::{PaymentId, ReservationId, ScheduleId, Timestamp, UserId};

struct OldReservations {
    before: Timestamp,
    limit: u32,
    now: Timestamp,
}

struct EraseReservation {
    reservation: ReservationId,
    before: Timestamp,
}

struct EraseCharges {
    before: Timestamp,
    limit: u32,
}

struct EraseLetters {
    before: Timestamp,
    limit: u32,
}

struct ForgetMoneyKeys {
    before: Timestamp,
    limit: u32,
}

work!(Worker: OldReservations => old_reservations, Vec<ReservationId>);
work!(Worker: EraseReservation => erase_reservation, bool);
work!(Worker: EraseCharges => erase_charges, u64);
work!(Worker: EraseLetters => erase_letters, u64);
work!(Worker: ForgetMoneyKeys => forget_money_keys, u64);

#[async_trait]
impl Records for SqlStore {
    async fn old_reservations(
        &self,
        before: Timestamp,
        limit: u32,
        now: Timestamp,
    ) -> Result<Vec<ReservationId>> {
        self.read(OldReservations { before, limit, now }).await
    }

    async fn erase_reservation(
        &self,
        reservation: ReservationId,
        before: Timestamp,
    ) -> Result<bool> {
        self.write(EraseReservation { reservation, before }).await
    }

    async fn erase_charges(&self, before: Timestamp, limit: u32) -> Result<u64> {
        self.write(EraseCharges { before, limit }).await
    }

    async fn erase_letters(&self, before: Timestamp, limit: u32) -> Result<u64> {
        self.write(EraseLetters { before, limit }).await
    }

    async fn forget_money_keys(&self, before: Timestamp, limit: u32) -> Result<u64> {
        self.write(ForgetMoneyKeys { before, limit }).await
    }
}

/// By age: ids begin with the time at which they were made. Each is decided about again when it is
/// erased; here it only has to be likely.
async fn old_reservations(
    tx: &mut dyn Tx,
    question: &OldReservations,
) -> Result<Vec<ReservationId>> {
    let sql = "select r.id
                 from reservations r join event_schedules s on s.id = r.schedule_id
                where r.id < $2 and r.updated_at < $1 and r.status not in ('HELD', 'PAYING')
                  and s.ends_at < $1 and s.sale_ends_at < $1
                  and not exists (select 1 from payments p
                                   where p.reservation_id = r.id
                                     and (p.updated_at >= $1
                                          or p.status in ('REQUESTED', 'UNKNOWN', 'REFUND_DUE')))
                  and not exists (select 1 from refunds f
                                   where f.reservation_id = r.id
                                     and (f.updated_at >= $1 or f.status = 'DUE'))
                  and coalesce((select f.next_at from job_failures f
                                   where f.job = 'payment-retention' and f.item = r.id), $4) <= $4
                order by r.id limit $3";
    tx.follow_indexes().await?;
    let OldReservations { before, limit, now } = *question;
    let rows = tx.query(sql, params![before, first_at(before), limit, now]).await?;
    rows.iter().map(|row| Ok(row.get(0)?)).collect()
}

/// A reservation with what has to be known to erase it.
struct Found {
    record: Record,
    schedule: ScheduleId,
    payments: Vec<(PaymentId, UserId)>,
}

async fn find(tx: &mut dyn Tx, reservation: ReservationId) -> Result<Option<Found>> {
    let sql = "select r.status, r.updated_at, r.schedule_id, s.ends_at, s.sale_ends_at
                 from reservations r join event_schedules s on s.id = r.schedule_id
                where r.id = $1";
    let Some(row) = tx.row(sql, params![reservation]).await? else { return Ok(None) };
    let sql = "select status, updated_at, id, user_id from payments where reservation_id = $1";
    let payments = tx.query(sql, params![reservation]).await?;
    let sql = "select status, updated_at from refunds where reservation_id = $1";
    let refunds = tx.query(sql, params![reservation]).await?;
    let (ends_at, sale_ends_at): (Timestamp, Timestamp) = (row.get(3)?, row.get(4)?);
    let paid = |row: &Row| Ok((row.parse(0, PaymentStatus::parse)?, row.get(1)?));
    let refunded = |row: &Row| Ok((row.parse(0, RefundStatus::parse)?, row.get(1)?));
    let name = |row: &Row| Ok((row.get(2)?, row.get(3)?));
    Ok(Some(Found {
        record: Record {
            status: row.parse(0, ReservationStatus::parse)?,
            changed_at: row.get(1)?,
            over_at: ends_at.max(sale_ends_at),
            payments: payments.iter().map(paid).collect::<Result<_>>()?,
            refunds: refunds.iter().map(refunded).collect::<Result<_>>()?,
        },
        schedule: row.get(2)?,
        payments: payments.iter().map(name).collect::<Result<_>>()?,
    }))
}

async fn erase_reservation(tx: &mut dyn Tx, command: &EraseReservation) -> Result<bool> {
    let EraseReservation { reservation, before } = *command;
    tx.follow_indexes().await?;
    let Some(found) = find(tx, reservation).await? else { return Ok(false) };
    if !found.record.may_be_erased(before) {
        return Ok(false);
    }
    for (payment, user) in found.payments {
        erase_around_payment(tx, payment, user).await?;
        let sql = "delete from payments where id = $1 and updated_at < $2";
        gone(tx.execute(sql, params![payment, before]).await?)?;
    }
    // Nobody sits there any more, and the sale is over.
    let free = "update seats set state = 'FREE', claim = null, expires_at = null, fence = fence + 1
                 where schedule_id = $1 and claim = $2
                   and seat_index in (select seat_index from reservation_seats
                                       where reservation_id = $2 and active)";
    tx.execute(free, params![found.schedule, reservation]).await?;
    let rest = [
        "delete from tickets where reservation_id = $1",
        "delete from standbys where reservation_id = $1",
        "delete from booked where reservation_id = $1",
        "delete from reservation_seats where reservation_id = $1",
        "delete from reservation_history where reservation_id = $1",
        "delete from outbox where aggregate_id = $1",
    ];
    for sql in rest {
        tx.execute(sql, params![reservation]).await?;
    }
    let sql = "delete from reservations where id = $1 and updated_at < $2";
    gone(tx.execute(sql, params![reservation, before]).await?)?;
    Ok(true)
}

/// What names a payment, or a charge of a wallet, but for organisers' keys: those go by their age.
async fn erase_around_payment(tx: &mut dyn Tx, payment: PaymentId, user: UserId) -> Result<()> {
    let named = [
        "delete from refunds where payment_id = $1",
        "delete from payment_history where payment_id = $1",
        "delete from refund_approvals where payment_id = $1",
        "delete from moved_alone where kind = 'PAYMENT' and subject_id = $1",
        "delete from sandbox_book where payment_id = $1",
    ];
    for sql in named {
        tx.execute(sql, params![payment]).await?;
    }
    let keys = "delete from idempotency_keys where user_id = $1 and subject_id = $2";
    tx.execute(keys, params![user, payment]).await?;
    Ok(())
}

/// A row that was there a moment ago, unless another command changed it.
fn gone(n_deleted: u64) -> Result<()> {
    match n_deleted {
        1 => Ok(()),
        _ => Err(Error::Conflict("the record was changed by another command".into())),
    }
}

async fn erase_charges(tx: &mut dyn Tx, command: &EraseCharges) -> Result<u64> {
    let EraseCharges { before, limit } = *command;
    let find = "select id, user_id from wallet_charges
                 where id < $2 and updated_at < $1 and status not in ('REQUESTED', 'UNKNOWN')
                 order by id limit $3";
    tx.follow_indexes().await?;
    let rows = tx.query(find, params![before, first_at(before), limit]).await?;
    for row in &rows {
        let (charge, user): (PaymentId, UserId) = (row.get(0)?, row.get(1)?);
        erase_around_payment(tx, charge, user).await?;
        let sql = "delete from wallet_charges where id = $1 and updated_at < $2";
        gone(tx.execute(sql, params![charge, before]).await?)?;
    }
    Ok(rows.len() as u64)
}

async fn erase_letters(tx: &mut dyn Tx, command: &EraseLetters) -> Result<u64> {
    let sql = "delete from mailbox where (message_id, channel, user_id) in
                 (select message_id, channel, user_id from mailbox
                   where message_id < $1 order by message_id limit $2)";
    Ok(tx.execute(sql, params![first_at(command.before), command.limit]).await?)
}

async fn forget_money_keys(tx: &mut dyn Tx, command: &ForgetMoneyKeys) -> Result<u64> {
    let sql = "delete from idempotency_keys where (user_id, endpoint, key) in
                 (select user_id, endpoint, key from idempotency_keys k
                   where created_at < $1 and subject_id is not null and status is not null
                     and not exists (select 1 from payments p where p.id = k.subject_id)
                     and not exists (select 1 from wallet_charges c where c.id = k.subject_id)
                   limit $2)";
    Ok(tx.execute(sql, params![command.before, command.limit]).await?)
}
